BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXX XXXXXXX
    XXXXX XXXXXXXXXXXXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX
         XXXXXXXXXXXXXXXXXXXFFFFFFFFFXX pgettext(u'button', u'Jobs') XXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'New token') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
    XXX XXXXXXXXXXXXXX
      XXXX pgettext(u'name of a value', u'Role') XXXXX
      XXXX
        FFFFFFFFFF
      XXXXX
      XXXX pgettext(u'name of a value', u'Teams') XXXXX
      XXXX
        BBB B BB BBBBBBBBBBBBB
          XX XXXXXXXXXXXX XXXXXXXXXXXXXXXX X XXXX
        BBBBB
          XXXXX XXXXXXXXXXXXXX gettext(u"No team yet. Add it on a team's page by its email address.") XXXXXXX
        BBBBBB
      XXXXX
      XXXX pgettext(u'name of a value', u'Created') XXXXX
      XXXX
        FFF X 
      XXXXX
    XXXXX
    BB BBBBBBBBB
      XXXXXXXX XXXXXXXXXXXXX
         pgettext(u'heading', u'No tokens yet') 
        XXXXXXXX XXXXXXXXXXXXXXX
           gettext(u'The account works with tokens. Create its first one.') 
          XXXXXXX XXXXXXXXXXXXXXX
            XXXXXXXXX XXXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'New token') X XX
          XXXXXXXXX
        XXXXXXXXXX
      XXXXXXXXXX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'Settings') XXXXX
        XXXXXXXXX
        XXXXX XXXXXXXXXXX XXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field', u'Description') XXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
          XXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field', u'Role') XXXXXXX
            XXXXXXX XXXXXXXXXXXX
              BBB B BB BBBBB
                XXXXXXX XXXXXXXX
                        BB BBBBBB BB BBBBBBBBBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
              BBBBBB
            XXXXXXXXX
          XXXXXXXX
          XXXXX
            XXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
          XXXXXX
        XXXXXXX
        XXXXX XXXXXXXXXXXX
              XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Delete %(n)s permanently? Its tokens stop working at once. Its jobs stay.') 
                SSSSSS SSSSS SSSSSSSSSSSS SSS SSSSSS SSSS SSSSSSS SS SSSSS SSS SSSS SSSSS
              XX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Delete permanently') XXXXXXXXX
        XXXXXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
