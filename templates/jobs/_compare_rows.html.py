BBBB BBBB BBBBBB
 #
 #
 #

XXXXXXXX XXXXXXXX XXXXXXXFFFFFFX XXXXXXXXXXXX
  BB BBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
        XXXXXXX
          XXXX
            XXXXXXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'Duration') XXXXX
            BB BBBBBBBB
              XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs, util') XXXXX
            BBBBB
            BB BBBBBBXXX XXXXXXXXXXXXXXXXXBBBBB
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB BBB BB BBBB
            BBBB BBBBBBBBBBB
              XXX XXXXXXXXXXXX
                XXXX
                  XXXXXX XXXXXXXXXX XXXXXXXX
                    XXXXXX XXXXXXXXXXXXXXX
                           XXXXXXX
                           XXXXXXXXXXXXX
                           XXXXXXXXXXXX pgettext(u'spoken label', u'Show %(n)s in charts') SSSS SSSSS SS SSSSSSXX
                    XX XXXXXXXXXXXXX XXXXXXX
                    XX XXXXXXXXXXXX XXXXXXX XXXXXXXXXXXXX
                  XXXXXXXX
                  XXXX XXXXXXXXXXXX XXXXX XXX XXXXXXX
                    XXXXXXXX XXXXXXXXXXXX XX
                    XXXXX XXXXXXXXXXXXXFFFFFFFFFFFFFFFFFFFFFFFXXXXXXX
                    XXXXXXXXXXXXXX
                    XX XXXXXXX
                       XXXXXXXXXXXX pgettext(u'spoken label', u'Remove %(n)s') SSSSSS SSSSSXX
                       pgettext(u'link', u'Remove') 
                    XXXX
                  XXXXXX
                XXXXX
                XXX XXXXXXXXXXXX
                  BB BBBBBBBBBBBBBBBBBBBB BB BBB BBBB
                    FFFF
                  BBBB
                    X
                  BBBBB
                XXXXX
                BB BBBBBBBB
                  XXX XXXXXXXXXXXX
                    FFFFFFFFFFFFFFFFFFF
                    BB BBBBBBBBBBBBBBBBBBB BB BBB BBBBX FFFFFFFBBBBB
                  XXXXX
                BBBBB
                BB BBBBBB
                  XXX XXXXXXXXXXBB BBBBBBBBBBB XXXXBBBBBXX
                    BB BBBBBBBBBB
                      FFFFFFFFFFFFFFFFFFFFFFFF
                      BB BBBBBBBBBBB
                        XXXX XXXXXXXXXXXXXX pgettext(u'value', u'best') XXXXXX
                      BBBBB
                    BBBB
                      X
                    BBBBB
                  XXXXX
                BBBBB
              XXXXX
            BBBBBBB
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBBB
  XXXX XXXXXXXXXXX XXX XXXXXXXXXXXXXXX
    BB BBB BBBBBBB
      XXXXX XXXXXXXXXX XXXXXXX
        BB BBBXXXXXX XXXXXXXXXXXXX XXXXXXX XXXXXXXXXBBBBB
        BB BBBBBBXXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXBBBBB
        XXXXXX XXXXXXXXXXX
               XXXXXXX
               XXXXXXXX
               XXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXX
               XXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Add') XXXXXXXXX
      XXXXXXX
    BBBBB
    BB BBBBBBB
      XXXXX XXXXXXXXXX XXXXXXX
        XXXXXX XXXXXXXXXXXXX XXXXXXX XXXXXXXXX
        XXXXXX XXXXXXXXXX XXXXXXX
           pgettext(u'field', u'Best by') 
          XXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXX
            BBB BBB BB BBBBBBB
              XXXXXXX XXXXXXXX BB BBB BB BBBBBBXXXXXXXXBBBBBXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXX
      XXXXXXX
    BBBBB
  XXXXXX
XXXXXXXXXX
