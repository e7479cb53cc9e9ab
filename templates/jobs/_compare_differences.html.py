BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Differences') X
         XXXXXXXFFFFFFX
         XXXXXXXXXXXX
  BB BBBBBBBBBBB
    XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXX XXXXXXXXXXXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Setting') XXXXX
            BBB BBB BB BBBB
              XXXX
                XX XXXXXXXXXXXXX XXXXXXX
                
              XXXXX
            BBBBBB
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBBBB BB BBBBBBBBBBB
            XXXX
              XXX XXXXXXXXXXX XXXXXXXXX
                FFFFFFFFFF
                BB BBBBBBBBBBXXXXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXXXXBBBBB
              XXXXX
              BBB BBBBB BB BBBBBBBBBBBB
                XXX XXXXXXXXXXXXX
                  BB BBBBB BB BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
              BBBBBB
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XX XXXXXXXXXXX XXXXXXXXXXX
  BBBBB
XXXXXXXXXX
