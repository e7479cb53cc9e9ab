BBBB BBBB BBBBBB
XXXX XXXXXXXXXXXX XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBB
       pgettext(u'name of a value', u'%(f)s of %(t)s GPUs free') 
        SSSSS SS SSSSS SSSS SSSS
      
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Available now') X
               XXXXXXXXX
        BBB BBBBB B BB BBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BBBBB
          XX XXXXXXXXXXXX XXXXXXX gettext(u'No node has a GPU.') XXXX
        BBBBBB
        BB BBB BBBBBBBBBBBBBB
          XX XXXXXXXXXXXX XXXXXXX
             gettext(u'On nodes with several GPU models, the scheduler reports how many are allocated but not which. The split by model is an estimate.') 
              SS SSSSS SSSS SSSSSSS SSS SSSSSSS SSS SSSSSSSSS SSSSSSS SSS SSSS SSS SSSSSSSSS SSS SSS SSSSSS
              SSS SSSSS SS SSSSS SS SS SSSSSSSSS
            
          XXXX
        BBBBB
      XXXXXXXXXX
      BB BBBBBBBBBBBBBBBBBBBB
        XX XXXXXXXXXXXXXX
          XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFXX gettext(u'Every GPU of this cluster') XXXX
        XXXX
      BBBBB
    BBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
    BBBBB
    BB BBBBBBBBBBB BB BBBB
      XXXXXXX XXXXXXXXXXXX
              XXXXXXXXXX
              XXXXXXX gettext(u'No jobs are running or pending here.') X XX
    BBBBB
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
      XXX XXXXXXXXXXXXXX
        XXXX pgettext(u'name of a value', u'Scheduler') XXXXX
        XXXX
          FFFFFFFFFFFFFFFFFF
          BB BBBBBBBBBBBBBBBBBBBB
        XXXXX
        XXXX pgettext(u'name of a value', u'Nodes') XXXXX
        XXX XXXXXXXXXXXXXX
          BBB BBBBBB B BB BBBBBBBBBBBBBBBBB
            BB B
              XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFFF
              FFFFFFFFFFXXXX
            BBBBB
          BBBBBB
          BB BBB BBBBBBBBBBBXBBBBB
        XXXXX
        BB BBBBBBBBBBBB
          XXXX pgettext(u'name of a value', u'Disk') XXXXX
          XXXX
            FFFFFFFFFF
          XXXXX
        BBBBB
        XXXX pgettext(u'name of a value', u'Inventory') XXXXX
        XXXX
          BB BBBBBBBBBBBBBBBBBB
            FFF
          BBBB
            X
          BBBBB
        XXXXX
        XXXX pgettext(u'name of a value', u'Connected') XXXXX
        XXXX
          FFF
        XXXXX
      XXXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
      XXXXXXX XXXXXXXXXXXX XXXXXXX XXXX X XX
      XXXXXXX XXXXXXXXXXXX XXXXXXX XXXX X XX
    XXXXXXXXXX
    BB BBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
    BBBBB
  XXXXXX
XXXXXX
