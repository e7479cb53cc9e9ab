BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXBBBBBBBB
BBBBB BBBBBFFFFFFFFFFBBBBBBBB
BBBBB BBBBFFFFFFFFFFBBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXXX XXXXXXX
    XXXXX
      XXXX pgettext(u'page title', u'Sign-in methods') XXXXX
      XX XXXXXXXXXXXX XXXXXXXXXXX
    XXXXXX
    BBB BBBBBBB BB BBBBBBBB
      XXXX XXXXXXXXXXX BB BBBBBBBBBBBBBBBBB BB BBBBBBBBBXXXXBBBBXXXBBBBBX
           XXXXXXXXXXXXXXXXXXXX
    BBBBBB
    XXXX XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXX
        XXXXXXX
          XXXX
            XXXX pgettext(u'value', u'Password') XXXXX
            XXX XXXXXXXXXXXXXX
              BB BBBBBBBBBBBB
                 pgettext(u'value, to set', u'Set') 
              BBBB
                 pgettext(u'value', u'None') 
              BBBBB
            XXXXX
            XXX XXXXXXXXXXXX
              BB BBBBBBBBBBBB
                XX XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBBXX pgettext(u'link', u'Change password') XXXX
              BBBBB
            XXXXX
          XXXXX
          BBB BBBB BBB BB BBBBBBBBBB
            XXXX
              XXXX
                
                BB BBBBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXXXXXXXXX
                BBBBB
              XXXXX
              XXX XXXXXXXXXXXXXX
                FFFFFFFFFFFFFFFFFFF X FFF
                BB BBBBBBBBBBBBBB X  gettext(u'Ended by the provider') BBBBB
              XXXXX
              XXX XXXXXXXXXXXX
                BB BBB
                  XXXXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXXXX
                BBBB BBBBBBBBBB
                  XXXXX XXXXXXXXXXXXX XXXXXXXXBBB BBBBBBBBBBBBBBBB BBBBBBXX
                    BBBBBBBBBB
                    XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXXX pgettext(u'button', u'Unlink') XXXXXXXXX
                  XXXXXXX
                BBBBB
              XXXXX
            XXXXX
          BBBBBB
        XXXXXXXX
      XXXXXXXX
    XXXXXX
    BB BBB BBBBBBBBBB BBB BBB BBBBBBBBB BBB BBB BBBBBBBBBBB
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'You sign in with your password. When an admin connects a directory under Sign-in, you can link it here. To sign in without a password, add a passkey.') 
      XXXX
    BBBB BBBBBBBBBB
      BBB BBBBBBBB BB BBBBBBBBB
        XXXXX XXXXXXXXXXXXX XXXXXXXXBBB BBBBBBBBBBBBB BBBBBBBBBBBBBXX
          BBBBBBBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
             pgettext(u'button', u'Link %(name)s') SSSS SSSSSSSS
          XXXXXXXXX
        XXXXXXX
      BBBBBB
      BBB B BB BBBBBBBBBBB
        XXXXXXXXX
          XXXXXXXXX pgettext(u'heading', u'Link %(name)s') SSSS SSSSSSSSXXXXXXXXXX
          XXXXX XXXXXXXXXXXXX
                XXXXXXXXXXXXXXX
                XXXXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBB BBBBBBXX
            BBBBBBBBBB
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX pgettext(u'field', u'Username') XXXXXXX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
            XXXXXXXX
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX pgettext(u'field', u'Password') XXXXXXX
              XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXX
            XXXXXXXX
            XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX pgettext(u'button, connection or address', u'Link') XXXXXXXXX
          XXXXXXX
        XXXXXXXXXX
      BBBBBB
    BBBB BBBBBBBBBBB
      XXX
        XX XXXXXXXXXXX
           XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBBBBXXXXXXBBB BBBBBBBBBBBBBBBBXX
           gettext(u"Confirm it's you to change these") 
        XXXX
      XXXX
    BBBB
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'To change these, sign out and sign in again. You have no Muster password, so a recent sign-in is required.') 
          SS SSSSSS SSSSSS SSSS SSS SSS SSSS SS SSSSSS SSS SSSS SS SSSSSS SSSSSSSSS SS S SSSSSS SSSSSSS SS SSSSSSSSS
        
      XXXX
    BBBBB
    XXXX XXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Add passkey') XXXX
      XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBXX pgettext(u'button', u'Account security') XXXX
    XXXXXX
  XXXXXX
BBBBBBBB
