BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXXX
      XXXXXXXXX
      XX XXXXXXXXXXXX
        
        BB BBBBBBBBBBBBB
          XXXXX XXXXXXXXXXXXX pgettext(u'state', u'operator') XXXXXXX
        BBBBB
        BB BBB BBBBBBBBBBB
          XXXXX XXXXXXXXXXX XXXXXX
            BB BBBBBBBBBBBBBB
               pgettext(u'state', u'suspended') 
            BBBB
               gettext(u'left their directory') 
            BBBBB
          XXXXXXX
        BBBBB
      XXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX
         XXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFXX pgettext(u'button', u'Audit') XXXX
    XXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXXXX
        XXXXXXXXXXX pgettext(u'text, workspaces', u'Suspended') XXXXXXXXX FFFX XXXX
      XXXXXX
    BBBBB
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX
        XXXX pgettext(u'heading, of a person or service', u'Account') XXXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXXXX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value', u'Organizations') XXXXX
          XXXX
            BBB B BB BBBBBB
              XX XXXXXXXXXXXX XXXXXXXXXXXXXXXX X FFFFFFFFFFXXXX
            BBBBB
               pgettext(u'value', u'none') 
            BBBBBB
          XXXXX
          XXXX pgettext(u'name of a value', u'Signs in by') XXXXX
          XXXX
            BB BBBBBBBBBBBBBBBBB
               pgettext(u'value', u'directory') 
            BBBBB
            BB BBBBBBBBBBBBBB
               pgettext(u'value', u'password') 
            BBBB BBB BBBBBBBBBBBBBBBBB
               pgettext(u'value', u'nothing yet') 
            BBBBB
            BB BBBBBBBBBBBBBBBBBBB X  pgettext(u'value', u'second factor') BBBBB
          XXXXX
          XXXX pgettext(u'name of a value', u'Last signed in') XXXXX
          XXXX
            BB BBBBBBBBBBBB
              FFF
            BBBB
               pgettext(u'value', u'never') 
            BBBBB
          XXXXX
        XXXXX
      XXXXXX
    XXXXXX
    BB BBBBBBB BB BBBBBBBBBBB
      XX XXXXXXXXXXXXXX gettext(u'This is you.') XXXX
    BBBB
      BB BBBBBBB BBB BBBBBBBBBBB BBB BBB BBBBBBBBBBBBB
        XXXX XXXXXXXXXXXXXX
          XXXXXXXX
            XXXX pgettext(u'heading', u'Impersonate') XXXXX
          XXXXXXXXX
          XXXXX XXXXXXXXXXX XXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            BBBBBBBBBB
            XX XXXXXXXXXXXXXX
               gettext(u'You see what they see and can do what they can, except with their account, tokens, secrets and shells. The audit logs of their organizations record that you did, and why.') 
                SSS SSS SSSS SSSS SSS SSS SSS SS SSSS SSSS SSSS SSSSSS SSSS SSSSS SSSSSSSS SSSSSSS SSSSSSS
                SSS SSSSSSS SSS SSSSS SSSS SS SSSSS SSSSSSSSSSSSS SSSSSS SSSS SSS SSSS SSS SSSS
              
            XXXX
            XXXX XXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXXX
                XXXXXX pgettext(u'field, why', u'Reason') XXXXXXX
                XXXXXX XXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXX
              XXXXXX XXXXXXXXXXXXXX
                XXXXXX pgettext(u'field', u'Minutes') XXXXXXX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXX XXXXXXXX XXXXXXXXXXX
              XXXXXXXX
              XXXXX
                XXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Start impersonating') XXXXXXXXX
              XXXXXX
            XXXXXX
          XXXXXXX
        XXXXXX
      BBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX gettext(u'Sign out everywhere') XXXXX
        XXXXXXXXX
        XXXXX XXXXXXXXXXX XXXXXXXX
              XXXXXXXXXXXXX
              XXXXXXXXXXXXXXXXXXXXXXXXXXX
          BBBBBBBBBB
          XX XXXXXXXXXXXXXX
             gettext(u'All their sessions end, and open pages close within seconds. They can sign in again; their tokens keep working.') 
              SSS SSSSS SSSSSSSS SSSS SSS SSSS SSSSS SSSSS SSSSSS SSSSSSSS SSSS SSS SSSS SS SSSSSS
              SSSSS SSSSSS SSSS SSSSSSSS
            
          XXXX
          XXXXX
            XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX gettext(u'Sign out everywhere') XXXXXXXXX
          XXXXXX
        XXXXXXX
      XXXXXX
      BB BBBBBBBBBBBBBBBBBBB
        XXXX XXXXXXXXXXXXXX
          XXXXXXXX
            XXXX gettext(u'Lost second factor') XXXXX
          XXXXXXXXX
          XXXXX XXXXXXXXXXX XXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXX
            BBBBBBBBBB
            XX XXXXXXXXXXXXXX
               gettext(u'Verify their identity first, by another way than email. This removes their second factor and recovery codes and signs them out. They sign in with their password until they set one up again.') 
                SSSSSS SSSSS SSSSSSSS SSSSSS SS SSSSSSS SSS SSSS SSSSSS SSSS SSSSSSS SSSSS SSSSSS
                SSSSSS SSS SSSSSSSS SSSSS SSS SSSSS SSSS SSSS SSSS SSSS SS SSSS SSSSS SSSSSSSS SSSSS
                SSSS SSS SSS SS SSSSSS
              
            XXXX
            XXXX XXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXXX
                XXXXXX gettext(u'How you verified it (recorded in the audit log)') XXXXXXX
                XXXXXX XXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXX
              XXXXX
                XXXXXXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXX
                        XXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Remove the second factor') XXXXXXXXX
              XXXXXX
            XXXXXX
          XXXXXXX
        XXXXXX
      BBBBB
      BB BBBBBBBBBBB
        XXXX XXXXXXXXXXXXXX
          XXXXXXXX
            XXXX pgettext(u'heading', u'Suspend') XXXXX
          XXXXXXXXX
          XXXXX XXXXXXXXXXX XXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXX
            BBBBBBBBBB
            XX XXXXXXXXXXXXXX
               gettext(u'They are signed out at once, and their tokens stop working. Memberships and jobs stay.') 
                SSSS SSS SSSSSS SSS SS SSSSS SSS SSSSS SSSSSS SSSS SSSSSSSS SSSSSSSSSSS SSS SSSS
                SSSSS
              
            XXXX
            XXXX XXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXXXXX
                XXXXXX gettext(u'Reason (recorded in the audit log)') XXXXXXX
                XXXXXX XXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXX
              XXXXX
                XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Suspend') XXXXXXXXX
              XXXXXX
            XXXXXX
          XXXXXXX
        XXXXXX
      BBBB
        XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'button', u'Restore') XXXXXXXXX
        XXXXXXX
      BBBBB
    BBBBB
  XXXXXX
BBBBBBBB
