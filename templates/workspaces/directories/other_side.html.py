BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXX pgettext(u'page title', u'Provider setup') XXXXX
      XX XXXXXXXXXXXX
         gettext(u'Addresses and tokens to enter at %(name)s.') 
          SSSSSSSSS SSS SSSSSS SS SSSSS SS SSSSSSSSS
        
      XXXX
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXX
        XXX
          XXXXXXXX gettext(u'SCIM token created.') XXXXXXXXX
           gettext(u'Copy it now. It is shown only once.') 
        XXXX
        XXXX XXXXXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Copy') XXXXXXXXX
        XXXXXX
      XXXXXX
    BBBBB
    BB BBBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'Addresses') XXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXX XXXXXXXXX
          BBB BBBBB BBBBB BB BBBBBBBBB
            XXXXX
              XX XXXXXXXXXXXX XXXXXXXXXXX
              XXXX XXXXXXXXXXXXX
                XXXX XXXXXXXXXXXXXXXXXXX
                XXXXXXX XXXXXXXXXX XXXXXX
                        XXXXXXXXXXXXX
                        XXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Copy') XXXXXXXXX
              XXXXXX
            XXXXXX
          BBBBBB
        XXXXXX
      XXXXXX
    BBBB
      XXXX XXXXXXXXXXXXXX
        XXXX gettext(u'Nothing to set up') XXXXX
        XXX gettext(u'Muster queries this directory itself, so nothing has to be entered there.') XXXX
      XXXXXX
    BBBBB
    BB BBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'SCIM token') XXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXX XXXXXXXXX
          XXX
            BB BBBBB
              XXXXX XXXXXXXXXXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXXXX
                 pgettext(u'text, workspaces', u'created %(time)s') SSSSSSS SSSSSSSSX
                BB BBBBBBBBBBBBBBBBBB
                   pgettext(u'text, workspaces', u'last used %(time)s') 
                    SSSS SSSS SSSSSSSS
                  
                BBBB
                   pgettext(u'text, workspaces', u'never used') 
                BBBBB
              XXXXXXX
            BBBB
              XXXXX XXXXXXXXXXXXXX
                 gettext(u"No token yet: the provider can't push people to Muster, so accounts are created when people sign in.") 
                  SS SSSSS SSSS SSS SSSSSSSS SSSSS SSSS SSSSSS SS SSSSSSS SS SSSSSSSS SSS SSSSSSS SSSS
                  SSSSSS SSSS SSS
                
              XXXXXXX
            BBBBB
          XXXX
          BB BBBBBBBBB
            XXXX XXXXXXXXXXXX
              XXXXX XXXXXXXXXXXXX BB BBBBBXXXXXXXXXXXXXX gettext(u'Create a new token? The old one stops working at once.') 
                      SSSSSS S SSS SSSSSS SSS SSS SSS SSSSS SSSSSSS SS SSSSS
                    XBBBBBX
                BBBBBBBBBB
                BBBB
                XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXX
                  BB BBBBB
                     gettext(u'Create a new token') 
                  BBBB
                     pgettext(u'button', u'Create token') 
                  BBBBB
                XXXXXXXXX
              XXXXXXX
              BB BBBBB
                XXXXX XXXXXXXXXXXXX
                      XXXXXXXXXXXXXX gettext(u'Revoke the token? Muster no longer notices people who leave there.') 
                        SSSSSS SSS SSSSSS SSSSSS SS SSSSSS SSSSSSS SSSSSS SSS SSSSS SSSSSS
                      XX
                  BBBBBBBBBB
                  XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Revoke') XXXXXXXXX
                XXXXXXX
              BBBBB
            XXXXXX
          BBBBB
        XXXXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
