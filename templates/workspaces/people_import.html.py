BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Upload a CSV file with up to %(n)s people. You see a preview before anything changes.') 
    SSSSSS S SSS SSSS SSSS SS SS SSSSS SSSSSSS SSS SSS S SSSSSSS SSSSSS SSSSSSSS SSSSSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Import people') X
          XXXXXXXXXX XX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXXXX
        XXX
          XXXXXXXX gettext(u'Import finished.') XXXXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXX
      XXXXXX
      BB BBBBB
        XXXX XXXXXXXXXXXXXX
          XXXXXXXX
            XXXX pgettext(u'heading', u'Links to send') XXXXX
          XXXXXXXXX
          XXXX XXXXXXXXXXX XXXXXXXXX
            XX XXXXXXXXXXXXXX gettext(u'Each link is for one person and is shown only once.') XXXX
            XXXX XXXXXXXXXXXXX
              XXXX XXXXXXXXXXXXXFFFFFXXXXXX
              XXXXXXX XXXXXXXXXX XXXXXX
                      XXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Copy') XXXXXXXXX
            XXXXXX
          XXXXXX
        XXXXXX
      BBBBB
    BBBB BBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXXXXXX
        XXX
          XXXXXXXX
             ngettext(u'One line has a problem, so nothing was imported.', u'%(n)s lines have problems, so nothing was imported.', count) 
              SSS SSSS SSS S SSSSSSSS SS SSSSSSS SSS SSSSSSSSS
            
              PPPPP PPPPP PPPP PPPPPPPPP PP PPPPPPP PPP PPPPPPPPP
            
          XXXXXXXXX  gettext(u'Fix the file and upload it again.') 
        XXXX
      XXXXXX
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Line') XXXXX
              XXXX pgettext(u'column', u'Problem') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB B BB BBBBBBBBBBBBB
              XXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Line') XXXXXXX
                XXX XXXXXXXXXXXXXXXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBB BBBBBB
      XXXX XXXXXXXXXXXXX
        XXX
          XXXXXXXX pgettext(u'text, workspaces', u'Preview:') XXXXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXX
      XXXXXX
    BBBBB
    BB BBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Line') XXXXX
              XXXX pgettext(u'column', u'Person') XXXXX
              XXXX pgettext(u'column', u'Action') XXXXX
              XXXX pgettext(u'column', u'Role') XXXXX
              XXXX pgettext(u'column', u'Teams') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB B BB BBBBBBBBBBBB
              XXXX
                XXX XXXXXXXXXX XXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Line') XXXXXXX
                XXX XXXXXXXXXXXXX
                   XXXXX XXXXXXXXXXXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXXXXX
                  BB BBBBBB BB BBBBBBBBB
                    XXXXX XXXXXXXXXXXXX pgettext(u'state', u'invited') XXXXXXX
                  BBBB BBBBBB BB BBBBBBB
                    XXXXX XXXXXXXXXXXXX pgettext(u'state', u'added') XXXXXXX
                  BBBB BBBBBB BB BBBBBBBB
                    XXXXX XXXXXXXXXXXXX pgettext(u'state', u'added to teams') XXXXXXX
                  BBBB
                    XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'unchanged') XXXXXXX
                  BBBBB
                  BB BBBBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Role') XX
                  BB BBBBBB BB BBBBBBBBB BB BBBBBB BB BBBBBBB
                    FFFFFFFFFFFFFFFF
                  BBBBB
                XXXXX
                XXXX
                  BBB BBBBB BBBB BB BBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXX X FFFFFFFFFFFXXXXXXX
                  BBBBBB
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBBB
    BB BBBBBB BBB BBB BBBBBBBBBBBBBB BBB BBB BBBBBBBBBBBBB
      XXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXX
               XXXXXXXXXX
               XXXXXXXBB BBBBXXXBBBBXXXXXXBBBBBXX
        BB BBBBB
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXX
        BBBBB
        XXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXXX
           ngettext(u'Import one person', u'Import %(n)s people', count) 
            SSSSSS SSS SSSSSS
          
            PPPPPP PPPPP PPPPPP
          
        XXXXXXXXX
        XX XXXXXXXXXX XXXXXX XXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXX
      XXXXXXX
    BBBBB
    BB BBB BBBBBB BB BBBBBBBBBBBBB BB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'Upload a file') XXXXX
        XXXXXXXXX
        XXXXX XXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          BBBBBBBBBB
          XX XXXXXXXXXXXX XXXXX XXXXXXX
             gettext(u'The first line names the columns: email, and optionally name, role, team and team_role. For several teams, add a line for each or write “vision speech=lead”.') 
              SSS SSSSS SSSS SSSSS SSS SSSSSSSS SSSSSS SSS SSSSSSSSSS SSSSS SSSSS SSSS SSS
              SSSSSSSSSS SSS SSSSSSS SSSSSS SSS S SSSS SSS SSSS SS SSSSS SSSSSSS SSSSSSSSSSSSS
            
          XXXX
          XXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
XXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
XXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXX pgettext(u'spoken label', u'File') XX
          XXXX XXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXX
                     XXXXXXXXXX
                     XXXXXXXXXXXXXX
                     BB BBB BBBBXXXXXXXBBBBBX
               gettext(u'Invite: each person gets a link') 
            XXXXXXXX
            XXXXXX XXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXX BB BBBBXXXXXXXBBBBBX
               gettext(u'Add directly: they sign in with a directory, or with a link to set a password') 
            XXXXXXXX
            BB BBBBBBBB
              XXXXXX XXXXXXXXXXXXXX
                XXXXXX XXXXXXXXXXXXXXX
                       XXXXXXXXXXX
                       XXXXXXXXX
                       BB BBBBBXXXXXXXBBBBBX
                 gettext(u'Send the invitations by email') 
              XXXXXXXX
            BBBBB
          XXXXXX
          XXXXX
            XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Preview') XXXXXXXXX
          XXXXXX
        XXXXXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
