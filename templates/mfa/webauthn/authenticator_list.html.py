BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBB
   pgettext(u'page title', u'Passkeys') 
BBBBBBBB
BBBBB BBBB
   pgettext(u'text, mfa', u'Passkeys') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX gettext(u'Passkeys and security keys') XXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Add passkey') XXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Account security') XXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBBBBBBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'column', u'Name') XXXXX
            XXXX pgettext(u'column, type', u'Kind') XXXXX
            XXXX pgettext(u'column', u'Added') XXXXX
            XXXX pgettext(u'column', u'Last used') XXXXX
            XXXX
              XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
            XXXXX
          XXXXX
        XXXXXXXX
        XXXXXXX
          BBB B BB BBBBBBBBBBBBBB
            XXXX
              XXX XXXXXXXXXXXXXXXXXX
              XXX XXXXXXXXXXXXXX
                BB BBBBBBBBBBBBBBBBBBBBBB
                   pgettext(u'value', u'passkey') 
                BBBB
                   pgettext(u'value', u'security key') 
                BBBBB
              XXXXX
              XXX XXXXXXXXXXXX XXXXXXXXFFFXXXXX
              XXX XXXXXXXXXXXX XXXXXXXX
                BB BBBBBBBBBBBBBB
                  FFF
                BBBB
                   pgettext(u'value', u'Never') 
                BBBBB
              XXXXX
              XXX XXXXXXXXXXXX
                XXXX XXXXXXXXXX XXXXX XXXXX
                  XX XXXXXXXXXX XXXXX XXXXXX
                     XXXXXXBBB BBBBBBBBBBBBBBBBBBB BBBBBBBXX pgettext(u'button', u'Rename') XXXX
                  XX XXXXXXXXXX XXXXX XXXXX XXXXXXX
                     XXXXXXBBB BBBBBBBBBBBBBBBBBBBBB BBBBBBBXX pgettext(u'button', u'Remove') XXXX
                XXXXXX
              XXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
  BBBB
    XXXX XXXXXXXXXXXXXX
      XXXX pgettext(u'heading', u'No passkeys yet') XXXXX
      XXX gettext(u'It takes about 30 seconds to add one.') XXXX
    XXXXXX
  BBBBB
BBBBBBBB
