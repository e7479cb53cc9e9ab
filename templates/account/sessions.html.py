BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title, sign-in sessions', u'Sessions') X
          XXXXX gettext(u'Sign out any session you don’t recognize. Its open pages close within seconds.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Connected apps') XXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Account security') XXXX
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXX XXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Device') XXXXX
            XXXX pgettext(u'column, network address', u'Address') XXXXX
            XXXX pgettext(u'column, of a session', u'Last seen') XXXXX
            XXXX pgettext(u'column', u'Signed in') XXXXX
            XXXX
              XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
            XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB B BB BBBBBBBB
            XXXX
              XXX XXXXXXXXXXXXX
                
                BB BBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXX pgettext(u'state', u'This session') XXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXXXX XXXXXXXXXXX
              XXX XXXXXXXXXXXX XXXXXXX
                  XXXXXXXXXXXX pgettext(u'column, of a session', u'Last seen') XXFFFXXXXX
              XXX XXXXXXXXXXXX XXXXXXX
                  XXXXXXXXXXXX pgettext(u'column', u'Signed in') XXFFFXXXXX
              XXX XXXXXXXXXXXX
                BB BBB BBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXX
                    BBBBBBBBBB
                    XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXX
                    XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXXX pgettext(u'button', u'Sign out') XXXXXXXXX
                  XXXXXXX
                BBBBB
              XXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
    BB BBBBBBBBBBBBBBB B B
      XXXXX XXXXXXXXXXXXX
            XXXXXXXXXXXXXX gettext(u'Sign out all other sessions?') XX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXXXXX gettext(u'Sign out all other sessions') XXXXXXXXX
      XXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
