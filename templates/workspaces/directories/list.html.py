BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Directories and single sign-on. People sign in with their company account, and their groups give them roles.') 
    SSSSSSSSSSS SSS SSSSSS SSSSSSSS SSSSSS SSSS SS SSSS SSSSS SSSSSSS SSSSSSSS SSS SSSSS SSSSSS SSSS
    SSSS SSSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Sign-in') X XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB BBB BBBB
        XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Connect a directory') XXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BBB B BB BBBB
      BB BBBBBBBBB
        XXXX XXXXXXXXXXX XXXX XXXXXXXXXXXXXX
          XXX
            BB BBBBBBBBBBBBBBB
               gettext(u"<b>%(name)s</b> isn't responding (%(time)s): %(why)s") 
                SSSSSSSSSSSSSSS SSSSS SSSSSSSSSS SSSSSSSSSSS SSSSSSS
              
            BBBB
               gettext(u"<b>%(name)s</b> isn't responding: %(why)s") 
                SSSSSSSSSSSSSSS SSSSS SSSSSSSSSSS SSSSSSS
              
            BBBBB
            XX XXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Open it') XXXX
          XXXX
        XXXXXX
      BBBBB
    BBBBBB
    BB BBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Directory') XXXXX
              XXXX pgettext(u'column', u'State') XXXXX
              XXXX pgettext(u'column', u'Scope') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'People') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Rules') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column, of a node', u'Last seen') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB B BB BBBB
              XXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXX XXXXXXXXXXXXX
                  XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXXXXXXXXXXX
                XXXXX
                XXXX
                  XXXXXXXX XXXXXXXXXXXXXX XXXXXXXX XX
                XXXXX
                XXX XXXXXXXXXXXX XXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Scope') XX
                  BB BBBBB
                    
                  BBBB
                     pgettext(u'value', u'Every organization') 
                  BBBBB
                  BBB B BB BBBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXX
                  BBBBBB
                XXXXX
                XXX XXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'People') XXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Rules') XXXXXXX
                XXX XXXXXXXXXX XXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column, of a node', u'Last seen') XX
                  BB BBBBBBBBB
                    FFF
                  BBBB
                    X
                  BBBBB
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB
       gettext(u'No directory connected') 
      XXXXXXXX XXXXXXXXXXXXXXX
        BB BBBBBBBBB
           gettext(u'People sign in with a password. Connect Entra ID, Okta, Google, Active Directory or another directory, and accounts and roles follow it.') 
            SSSSSS SSSS SS SSSS S SSSSSSSSS SSSSSSS SSSSS SSS SSSSS SSSSSSS SSSSSS SSSSSSSSS SS SSSSSSS
            SSSSSSSSSS SSS SSSSSSSS SSS SSSSS SSSSSS SSS
          
        BBBB
           gettext(u"People sign in with a password. An owner of the organization can connect your company's directory.") 
            SSSSSS SSSS SS SSSS S SSSSSSSSS SS SSSSS SS SSS SSSSSSSSSSSS SSS SSSSSSS SSSS
            SSSSSSSSS SSSSSSSSSS
          
        BBBBB
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBBB
            XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Connect a directory') XXXX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
