BBBB BBBB BBBBBB
 #
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'GPUs') X
         XXXXXXXXX
         XXXXXXXXXXXXXXXXXX
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXX XXXXXX
      XXXXXXX
        XXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'GPU') XXXXX
          BB BBBBBBBBB
            XXXX pgettext(u'column, of a GPU', u'Model') XXXXX
          BBBBB
          XXXX pgettext(u'column', u'Utilization (5 min)') XXXXX
          BB BBBBBBBBBBBBBBB
            XXX XXXXXXXXXXX
                XXXXXXX gettext(u'Share of the time that the multiprocessors had work') XX pgettext(u'column', u'SM activity') XXXXX
          BBBBB
          XXXX pgettext(u'column', u'Memory used') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'Temperature') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column, electricity', u'Power') XXXXX
          XXXX pgettext(u'column', u'Job') XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB B BB BBBBB
          XXXX
            XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'GPU') XX
              BB BBBBBBBB BBB BBBBBBBB
                XX XXXXXXXXXXXXXXXXXX
              BBBB
                
              BBBBB
            XXXXX
            BB BBBBBBBBB
              XXX XXXXXXXXXXXXX XXXXXX XXXXXXX XXFFFFFFFFXXXXX
            BBBBB
            XXX XXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Utilization (5 min)') XX
              BB BBBBBBBBBBBBB BB BBB BBBB
                XXXXXXXXX XXXXXXX
                          XXXXXXXFFFFFFFFFFFFFFFFFX
                          XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXX XXXXXXXBB BBBBBBBBB BBB BBBBBBBBBBBBB B BBBXXXXXXXXXBBBBBXX
                  FFFFFFFFFFFFFF
                XXXXXXX
              BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              BBBBB
            XXXXX
            BB BBBBBBBBBBBBBBB
              XXX XXXXXXXXXX XXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'SM activity') XX
                BB BBBBBBBBBBB BB BBB BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                        XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFXXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
            BBBBB
            XXX XXXXXXXXXXXXX XXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Memory used') XX
              BB BBBBBBBBBBBBB BB BBB BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXFFFFFFFFFFFFFFXXXXXXX
              BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              BBBBB
              XXXXX XXXXXXXXXXXXXXX FFFFXXXXXXX
            XXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Temperature') XX
              BB BBBBBBBBBBBBB BB BBB BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXFFFFFFFFFFFFF XXXXXXXXX
                BB BBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value', u'throttled') XXXXXXX
                BBBBB
              BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              BBBBB
            XXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column, electricity', u'Power') XX
              BB BBBBBBB BB BBB BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXFFFFFFFFFFFFXXXXXXX
              BBBB
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              BBBBB
            XXXXX
            XXX XXXXXXXXXXX XXXXXX
              BB BBBBBBB BB BBB BBBB
                XXXXX XXXXXXXXXXXXXX
                   npgettext(u'number of things', u'MIG: 1 instance', u'MIG: %(n)s instances',count) 
                    SSSS S SSSSSSSS
                  
                    PPPP PPPPP PPPPPPPPP
                  
                XXXXXXX
              BBBB BBBBB
                XX XXXXXXXXXXXXXXXXXXX
                XXXXX XXXXXXXXXXXXXXBB BBBBBBBBBBBX BBBBBXXXXXXX
              BBBB BBBBBBBBB
                XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'allocated') XXXXXXX
              BBBB BBBBBBBBBBBBB
                XXXXX XXXXXXXXXXXXXX pgettext(u'state of a GPU', u'reserved') XXXXXXX
              BBBB
                XXXXX XXXXXXXXXXXXXX pgettext(u'value, not in use', u'free') XXXXXXX
              BBBBB
            XXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
XXXXXXXXXX
