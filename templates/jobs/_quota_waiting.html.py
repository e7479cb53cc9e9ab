BBBB BBBB BBBBBB
 #

BB BBBBBBB
  XXXXXXXX XXXXXXX gettext(u'Waiting for a limit') X XXXXXXXXXX
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Job') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Owner') XXXXX
            XXX XXXXXXXXXXXX pgettext(u'column, why', u'Reason') XXXXX
            XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Expected start') XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBB BB BBBBBBB
            XXX XXXXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXX XXXXXX
                XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXX
              XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX
              XXX XXXXXXXXXXXXFFFFFFFFFFXXXXX
              XXX XXXXXXXXXX XXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'Expected start') XXBBBBBBBBBBB BBBBBBBBBBBBBBBBBBXXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  XXXXXXXXXX
BBBBB
