BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Differences') X
         XXXXXXXFFFFFFX
         XXXXXXXXXXXX
  BB BBBBBB
    XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXX XXXXXXXXXXXXXX XXXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Setting') XXXXX
            BBB BBB BB BBBB
              XXXX
                XX XXXXXXXXXXXXX XXXXXXX
                
              XXXXX
            BBBBBB
            XXXX pgettext(u'column', u'Likely effect') XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBB BB BBBBBB
            XXXX
              XXX XXXXXXXXXXX XXXXXXXXX
                FFFFFFFFFF
                BB BBBBBBBBBBBBBBBBXXXXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXXXXBBBBB
              XXXXX
              XXX XXXXXXXXXXXXX
                BB BBBBBBBBBB BB BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXXXXX
                BB BBBBBBBBB BB BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXXX
                BBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
                BBBBB
                BB BBBBBBBBBBXXXXX XXXXXXXXXXXX XXXXXXXXFFFFFFFFFFFFFFFFXXXXXXXBBBBB
              XXXXX
              XXX XXXXXXXXXXXXX XXXXXXXXXFFFFFFFFFFXXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXXXX gettext(u'These runs have the same configuration.') XXXX
  BBBBB
XXXXXXXXXX
