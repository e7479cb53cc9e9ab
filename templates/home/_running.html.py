BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Running') X
         XXXXXXXFFFFFFFFFFFFFFFFX
         XXXXXXXXXXXXXXXXXXXXXXXXXXX
         XXXXXX pgettext(u'link', u'View all') X
         XXXXXXXXXX
  BB BBBBBBBBBBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Job') XXXXX
            XXXX pgettext(u'column', u'Owner') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXX
            XXXX gettext(u'GPU util (5 min)') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Elapsed') XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBB BB BBBBBBBBBBBB
            XXX XXXXXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXX
                XX XXXXXXXXXXXXX XXXXXXXXXXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              XXXXX
              XXX XXXXXXXXXXXX XXXXXXXXXXX
              XXX XXXXXXXXXX XXXXXXXX
                BB BBBBBBBBBBBBBBBBBB
                   XXXXX XXXXXXXXXXXXXXXXXXXXXXXX
                BBBB
                  X
                BBBBB
              XXXXX
              XXXX
                BB BBBBBBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXX
                    BB BBBBBBBBBB
                       gettext(u'GPU utilization of the last 6 hours') 
                      BBBBBBBBB BBBBBBBBBB BBBBB B
                    BBBBB
                    XXXXX XXXXXXXXXXXXXBB BBBBBBBBBBBBBBBBBBB BB BBB BBBB BBB BBBBBBBBBBBBBBBBBBB B BBB XXXXXXXBBBBBXXFFFFFFFXXXXXXX
                  XXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXX XXXXXXXXFFFFFXXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XXXX XXXXXXXXXXX XXXXXXX gettext(u'No job is running.') XXXXXX
  BBBBB
XXXXXXXXXX
