BBBB BBBB BBBBBB
 #
 #
 #

XXXXXXX XXXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXX XX
XXXXXXXX XXXXXXX pgettext(u'heading', u'Usage by team') X XXXXXXXXXX
  BB BBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Team') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs allocated') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Running') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Pending') XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB B BB BBBB
            XXXX
              XXX XXXXXXXXXXX XXXXXX
                XX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                BB BBB BBBBXXXXX XXXXXXXXXXXXXXXXXXXXXBBBBB
              XXXXX
              XXX XXXXXXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'GPUs allocated') XXXXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Running') XX
                BB BBBBBB
                  XX XXXXXXXXXXXXBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBB BBBBBBBBB BBBBBBBBBBBXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Pending') XX
                BB BBBBBBB
                  XX XXXXXXXXXXXXBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBB BBBBBBBBB BBBBBBBBBBBXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXX XXXXXXXXXXX
  BBBBB
XXXXXXXXXX
