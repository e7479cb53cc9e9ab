BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXX
    XXXXX XXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'Before') XX
        BB BBB BBBBBBXXXXXXX XXXXXXXXXXXXXXXXXXXBBBBB
        BBB BBB BB BBBBBBB
          XXXXXXX XXXXXXXX
                  BB BBBBBBBBBB BB BBBBBBBBBBBBBXXXXXXXXBBBBBXX FFFFFFFFFFFFFFFFXXXXXXXXX
        BBBBBB
      XXXXXXXXX
      XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXX XXXXXXXXXXXX pgettext(u'spoken label', u'After') XX
        BBB BBB BB BBBBBBB
          XXXXXXX XXXXXXXX
                  BB BBBBBBBBBB BB BBBBBBBBBBBBXXXXXXXXBBBBBXX FFFFFFFFFFFFFFFFXXXXXXXXX
        BBBBBB
      XXXXXXXXX
      XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Compare') XXXXXXXXX
      BB BBBBBBB
        XX XXXXXXXXXX XXXXX XXXXXX XXXXXXXX pgettext(u'button', u'Swap') XXXX
      BBBBB
      XXXXX XXXXXXXXXXXXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
        BB BBBBBBBBBBBBBBBB
          XXXXX XXXXXXXXXXXXXX pgettext(u'text, datasets', u'and more') XXXXXXX
        BBBBB
      XXXXXXX
    XXXXXXX
    BB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXXX XXXXXXXXX
        BBB BBB BB BBBBBBBBBBBBBB
          XXXXXXXX BB BBBBBBBBB BBB BBBBBBBBBBBBBBBBBBBBB B BXXXXBBBBBX
            XXXXXXXXX
              XXXXX XXXXXXXXXXXXX XX
                BB BBBBBBBB BB BBBBBBB
                   pgettext(u'heading', u'added') 
                BBBB BBBBBBBB BB BBBBBBBBB
                   pgettext(u'heading', u'removed') 
                BBBB
                   pgettext(u'heading', u'changed') 
                BBBBB
              XXXXXXX
              XXXXX XXXXXXXXXXX XXXXXXXXXXXXX
              XXXXX XXXXXXXXXX XXXXX XXXXXX XXXXXXX
                BB BBBBBBBBBB BBB BBBBBBBBB
                  FFFF X FFFF
                BBBB BBBBBBBBB
                  FFFF
                BBBB
                  FFFF
                BBBBB
              XXXXXXX
            XXXXXXXXXX
            BB BBBBBBBBB
              XXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
                XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXX
                  BBB BBBBB BBBB BB BBBBBBBBB
                    XXX XXXXXXXXX
                      XXXX
                        BB BBBB BB BBBBBBB
                          X
                        BBBB BBBB BB BBBBBBBBB
                          X
                        BBBBB
                      XXXXX
                      XXXX
                        XXXXXXXXXXXXX
                      XXXXX
                    XXXXX
                  BBBBBB
                XXXXXXXX
              XXXXXXXX
              BB BBBBBBBBBB
                XX XXXXXXXXXXXX XXXXX XXXXXX gettext(u'This is the beginning of the difference.') XXXX
              BBBBB
            BBBB
              XX XXXXXXXXXXXX XXXXX XXXXXX gettext(u'The content is not text, or larger than 64 KiB.') XXXX
            BBBBB
          XXXXXXXXXX
        BBBBBB
      XXXXXX
      BB BBBB
        XXXX XXXXXXXXXXXXX
             XXXXXXXXXXXX pgettext(u'spoken label', u'Pages') XX
          XXXXX XXXXXXXXXXXXXXXXXXXXXX
          XX XXXXXXXXXX XXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Next') XXXX
        XXXXXX
      BBBBB
    BBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No differences') XX
         gettext(u'Both versions have the same files.') 
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
