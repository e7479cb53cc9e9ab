BBBB BBBBBB BBBB
BB BBBBB
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Pool') XXXXX
          XXXX gettext(u'Nodes that match') XXXXX
          XXXX pgettext(u'column', u'Nodes') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs free') XXXXX
          XXXX pgettext(u'column', u'By model') XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB BBBBB B BB BBBBB
          XXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
              XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
              BB BBBBBBBBBBBB
                XXXXX XXXXXXXXXXXXXX gettext(u'open to all teams') XXXXXXX
              BBBBB
              XX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Idle rule') XXXX
            XXXXX
            XXX XXXXXXXXXX XXXXXXFFFFFFFFFFXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
  BB BBBBBBBBB
    XXXX XXXXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New pool') X XX
    XXXXXX
  BBBBB
BBBB
  XXXXXXXX XXXXXXX pgettext(u'empty list', u'No pools') X
           XXXXXXXXXXXXXXX XXXX XXXXXX XXXX  XXXXXXXXXX XXXXXX
     gettext(u'Every team can use the whole cluster. Once it has a pool, teams can use it only through its pools.') 
      SSSSS SSSS SSS SSS SSS SSSSS SSSSSSSS SSSS SS SSS S SSSSS SSSSS SSS SSS SS SSSS SSSSSSS SSS SSSSSS
    
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New pool') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXXX
BBBBB
