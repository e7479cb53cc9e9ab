BBBB BBBB BBBBBB
 #
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'MIG instances') X
         XXXXXXXFFFFFFX
         XXXXXXXXX
         XXXXXXXXXXXXXXXXXX
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXX XXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Instance') XXXXX
          XXXX pgettext(u'column', u'Profile') XXXXX
          BB BBBBBBBBBBBBBBBBBBBBB
            XXX XXXXXXXXXXXX pgettext(u'column', u'SM activity') XXXXX
          BBBBB
          XXXX pgettext(u'column', u'Memory used') XXXXX
          BB BBBBBBBBB
            XXXX pgettext(u'column', u'Job') XXXXX
          BBBBB
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB B BB BBBBBBBBB
          XXXX
            XXX XXXXXXXXXXXXXX XXXXXXXXX
              BB BBBBB BB BBBB
                
              BBBB BBBBBBBB
                XX XXXXXXXXXXXXXXXXX XXXX X 
              BBBB
                XXX  X 
              BBBBB
            XXXXX
            XXX XXXXXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Profile') XXFFFFFFFFXXXXX
            BB BBBBBBBBBBBBBBBBBBBBB
              XXX XXXXXXXXXX XXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'SM activity') XX
                BB BBBBBBBBBBB BB BBB BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                        XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFXXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
            BBBBB
            XXX XXXXXXXXXXXXX XXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Memory used') XX
              BB BBBBBBBBBBBBB BB BBB BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFXXXXXXX
              BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              BBBBB
              XXXXX XXXXXXXXXXXXXXX FFFFXXXXXXX
            XXXXX
            BB BBBBBBBBB
              XXX XXXXXXXXXXX XXXXXX
                BB BBBBB
                  XX XXXXXXXXXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXXXXBB BBBBBBBBBBBX BBBBBXXXXXXX
                BBBB BBBBBBBBB
                  XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'allocated') XXXXXXX
                BBBB BBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXX pgettext(u'value, not in use', u'free') XXXXXXX
                BBBBB
              XXXXX
            BBBBB
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
XXXXXXXXXX
