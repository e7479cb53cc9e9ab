BBBB BBBB BBBBBB
XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
  XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXX
  XXXXXX XXXXXXXXXXXXX
         XXXXXXXXXXX
         XXXXXXXX
         XXXXXXXXXXXXX gettext(u'Part of a name or reason') X
         XXXXXXXXXXXX pgettext(u'spoken label', u'Search nodes') X
         XXXXXXXXXXXX
  XX XXXXXXXXXXXX
     XXXXXXXXXXXXXXXXX
     BB BBB BBBBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX
     pgettext(u'state', u'All')  FFFFFFFFFFFFFFFF
  XXXX
  BBB BBBBBB B BB BBBBBBBBBBBBBBBBB
    XX XXXXXXXXXXXX
       XXXXXXXXXXXXXXXXXXXXXXXXXXXX
       BB BBBBBBBBBBB BB BBBBBXXXXXXXXXXXXXXXXXXXBBBBBXFFFFFFFFFF FFFFFFFFFFFFFFFFXXXX
  BBBBBB
  BB BBBBBBBBBBB
    XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
  BBBBB
  BB BBBBBBBBBBBBBBBBB B B
    XXXXXXX XXXXXXXXXXXXXX
            XXXXXXXXXXXXXXXX
            XXXXXXXXXXXX pgettext(u'spoken label', u'Partition') X
            XXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXX pgettext(u'choice', u'All partitions') XXXXXXXXX
      BBB BBBB BB BBBBBBBBBB
        XXXXXXXBB BBBB BB BBBBBBBBBBBBBBB XXXXXXXXBBBBBXXXXXXXXXX
      BBBBBB
    XXXXXXXXX
  BBBBB
XXXXXXX
BB BBBBB
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Node') XXXXX
          XXXX pgettext(u'column', u'State') XXXXX
          XXXX pgettext(u'column, why', u'Reason') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs allocated') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'CPU allocated') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'Memory allocated') XXXXX
          XXXX pgettext(u'column', u'Partitions') XXXXX
          BB BBBBBBBBB BBB BBBBBBBBBBBBBBBBB
            XXXXXXXXX
          BBBBB
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB B BB BBBBB
          XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
              XX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXX
            XXXX
              XXXXXXXX XXXXXXXXX XXXXXXXX XX
            XXXXX
            XXX XXXXXXXXXX XXXXX XXXXXXXFFFFFFFFFFXXFFFFFFFFFFXXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'GPUs') XX
              BB BBBBBBBBBBBB
                
                XXXXX XXXXXXXXXXXXXX
                  X 
                  BBB BBBB BB BBBBBBBBBBBB
                    FFFFFFFFBB BBB BBBBBBBBBBBBXBBBBB
                  BBBBBB
                XXXXXXX
                BB BBBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXX XXXXXXXX  pgettext(u'value', u'%(n)s reserved') SSSSS SSSSSSSSXXXXXXX
                BBBBB
              BBBB
                XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'none') XXXXXXX
              BBBBB
            XXXXX
            XXX XXXXXXXXXX XXXXXX XXXXXX
              FFFFFFFFFFFFFFFF
              XXXXX XXXXXXXXXXXXXXX FFFFFFFFFFFFFFFFXXXXXXX
            XXXXX
            XXX XXXXXXXXXX XXXXXX XXXXXX
              FFFF XXXXX XXXXXXXXXXXXXXX FFFFXXXXXXX
            XXXXX
            XXX XXXXXXXXXXX XXXXX XXXXXXFFFFFFF FXXXXX
            BB BBBBBBBBB BBB BBBBBBBBBBBBBBBBB
              XXX XXXXXXXXXXXX
                XXXXX XXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                  BBBBBBBBBB
                  XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
                  BB BBBBBBBBBBBB
                    XXXXXXX XXXXXXXXXX XXXXXX
                            XXXXXXXXX
                            XXXXXXXXXXXXXXX pgettext(u'button', u'Resume') XXXXXXXXX
                  BBBB
                    XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                            XXXXXXXXXXXXX
                            XXXXXXXXXXXXXX pgettext(u'button', u'Drain') XXXXXXXXX
                  BBBBB
                XXXXXXX
              XXXXX
            BBBBB
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
  BB BBBBBBBBB BB BBBBBBBBBBB
    XXXX XXXXXXXXXXXXX
         XXXXXXXXXXXX pgettext(u'spoken label', u'Pages') XX
      BB BBBBBBBBBBB
        XX XXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'First') XXXX
      BBBBB
      BB BBBBBBBBB
        XX XXXXXXXXXXX
           XXXXXXXXXX
           XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFXX pgettext(u'button', u'Next') XXXX
      BBBBB
    XXXXXX
  BBBBB
BBBB BBBBBBBBBBB
  XXXXXXXX XXXXXXX gettext(u'No matching nodes') XX
     gettext(u'Clear a filter to see more.') 
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'button', u'Clear filters') XXXX
    XXXXXXXXX
  XXXXXXXXXX
BBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
BBBBB
BB BBBBBBBBB BBB BBBBBBBBBBBBBBBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
BBBB BBBBBBBBB BBB BBBBB
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'This kind of cluster has no scheduler that can drain a single node. You can disable the whole cluster.') 
      SSSS SSSS SS SSSSSSS SSS SS SSSSSSSSS SSSS SSS SSSSS S SSSSSS SSSSS SSS SSS SSSSSSS SSS SSSSS SSSSSSSS
    
  XXXX
BBBBB
