BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  BB BBBB
     pgettext(u'heading', u'Connect %(kind)s') SSSSSSS SSSSSSSS
    XXXXXXX XXXXXXXXXXXXXXXX XXXXXFFFFFFFFFFX XX
  BBBB
     gettext(u'People sign in with their company account, and their groups give them roles.') 
      SSSSSS SSSS SS SSSS SSSSS SSSSSSS SSSSSSSS SSS SSSSS SSSSSS SSSS SSSS SSSSSS
    
    XXXXXXX XXXXXXX gettext(u'Connect a directory') X XXXXXXXXXX XX
  BBBBB
  BB BBBB
    BB BBBBBBB
      XXXX XXXXXXXXXXX XXXXXX
        XXXFFFFFFFFFFXXXX
      XXXXXX
    BBBBB
    XXXXXXXXX XXXXXXXXXXXXXXX
              XXXXXXXXXXXXXXXX
              XXXXXXXX pgettext(u'a cluster or directory', u'Connect') X
              XXXXXXX pgettext(u'of a cluster or directory', u'Type') X
              XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              XXXXXXXXXX
              XXXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
      BBB BBBB BB BBBBB
        XXXXXXX XXXXXXX XXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBBBBBBB
            XXXX XXXXXXXXXXXXX XXXXXXXXX
              XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'field', u'Short name')  XXXXXXXXXXXXXXXX
                XXXXXX XXXXXXXXXXX
                       XXXXXXXXXXXXXXXX
                       XXXXXXXXXXX
                       XXXXXXXXXXXXXX
                       XXXXXXXX
                       XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                       XXXXXXX gettext(u'Use lowercase letters, digits and hyphens. Begin with a letter and end with a letter or digit.') X
                       XXXXXXXX
                       XXXXXXXXXXXXXXXXXX
                       BB BBBBBBBBBBB BB BBBBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXFFFFFFFFFFFFFFFFFFFFXXXXXXXX
                XXXXXXX gettext(u"Lowercase letters, digits and hyphens. It can't be changed later.") XXXXXXXX
              XXXXXX
              XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
                XXXXXX
                  XXXXXX XXXXXXXXXXXXXXXXXXX pgettext(u'field', u'Name') XXXXXXXX
                XXXXXXX
                XXXXXX XXXXXXXXXXX
                       XXXXXXXXXXXXXXXXX
                       XXXXXXXXXXXX
                       XXXXXXXXXXXXXXX
                       XXXXXXXX
                       XXXXXXXXXXXXXXXXXX
                       XXXXXXXXXXXXX pgettext(u'placeholder', u'Shown to people') XX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
              XXXXXX
            XXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
          BBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXXX
      BBBBBB
      XXXXXXX XXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Test') XX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        BB BBBBBBBBBBBBBBBBB
          XXXX XXXXXXXXXXXXX XXXXXXXXX
            XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
              XXXXXX
                XXXXXX XXXXXXXXXXXXXXXXXXXX gettext(u'A person (optional)') XXXXXXXX
              XXXXXXX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXX
                     XXXXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
              XXXXXXX gettext(u'The name somebody signs in with. The test finds them and their groups, without a password.') XXXXXXXX
            XXXXXX
          XXXXXX
        BBBBB
        XXXX XXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Test connection') XXXXXXXXX
        XXXXXX
      XXXXXXXXX
      XXXXXXX XXXXXXXXXXXX
              XXXXXXX pgettext(u'heading', u'Roles') X
              XXXXXXXXXXXXX
        XX XXXXXXXXXXXXXX
           gettext(u'For each organization and team, the first rule that matches a person decides. * matches everyone in the directory. You can change rules at any time.') 
            SSS SSSS SSSSSSSSSSSS SSS SSSSS SSS SSSSS SSSS SSSS SSSSSSS S SSSSSS SSSSSSSS S SSSSSSS
            SSSSSSSS SS SSS SSSSSSSSSS SSS SSS SSSSSS SSSSS SS SSS SSSSS
          
        XXXX
        XXXX XXXXXXXXXXXBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBXXXXXX
        BB BBBBBBBBBBBBBBBBB
          XXXX XXXXXXXXXXXXX XXXXXXXXX
            XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
              XXXXXX
                XXXXXX XXXXXXXXXXXXXXXXXXXXX pgettext(u'field', u'Email domains') XXXXXXXX
              XXXXXXX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXFFFFFFFFFFXXXXXXXX
              XXXXXXX gettext(u'People with these addresses sign in with this directory.') XXXXXXXX
            XXXXXX
            XXXX XXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXXX
                XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXX BB BBBBBBBXXXXXXXBBBBBX
                 gettext(u'For every organization') 
              XXXXXXXX
              XXXXXXX gettext(u'Its rules can give roles in every organization. Otherwise only in this one.') XXXXXXXX
            XXXXXX
          XXXXXX
        BBBBB
      XXXXXXXXX
      XXXXXXX XXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXX
                XXXXXXXXXXX
                BB BBBBBB BB BBBBBBBBXXXXXXBBBBBX pgettext(u'button', u'Connect anyway') XXXXXXXXX
      XXXXXXXXX
    XXXXXXXXXXX
  BBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBB
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
