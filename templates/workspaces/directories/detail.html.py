BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBBBBB
   pgettext(u'field', u'Every organization') 
  BBBBBBB BBBBBBB BBBBBBBBBBB BB BBBBB
  XXXXXXX XXXXXXXX XXXXX X XX
    XXXXXXXX XXXXXXXXXXXXXX XXXXXXXX XX
    BB BBBBBBBBBBBXXXXX XXXXXXXXXXXX XXXXXXXFFFXXXXXXXBBBBB
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBB
        BB BBBBBBBBBBBB
          XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
            BBBBBBBBBB
             gettext(u'Sync people and roles with this directory, now and from now on?') 
              SSSS SSSSSS SSS SSSSS SSSS SSSS SSSSSSSSSS SSS SSS SSSS SSS SSS
            
            XXXXXXX XXXXXXXXXXBB BBB BBBBBBBBB XXXXXXXBBBBBX
                    XXXXXXXXX
                    XXXXXXXXXXXXX pgettext(u'button', u'Dry run') XXXXXXXXX
            XXXXXXX XXXXXXXXXXBB BBBBBBBBB XXXXXXXBBBBBX
                    XXXXXXXXX
                    XXXXXXXXXXX
                    BB BBB BBBBBBBBBXXXXXXXXXXXXXXXBBBBBX pgettext(u'button', u'Sync now') XXXXXXXXX
          XXXXXXX
        BBBBB
        XX XXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXX
        BB BBBBBBBBBBB
          XX XXXXXXXXXXX
             XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Provider setup') XXXX
        BBBBB
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBB
      XXXX XXXXXXXXXXXX
           XXXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        XXX
           gettext(u'Reading the directory.')   pgettext(u'text, workspaces', u'People so far:') 
          XX XXXXXXXXXXX XXXXXXXXXXXXXXX
        XXXX
      XXXXXX
    BBBBB
    BB BBBBBBBBBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXXXXXXX
        XXX
          FFFFFFFFFFBB BBBBBBBBBBBBBBBBB XFFFXBBBBBX
           gettext(u'People who are signed in stay signed in, and passwords set here still work.') 
        XXXX
      XXXXXX
    BBBBB
    BB BBB BBB BBBBBBBBBBB BB BBBBBBBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXX XXXXXXXXXXXXXX
        XXXFFFFFFFFFFXXXX
        BB BBBBBBBBB
          XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
            BBBBBBBBBB
            XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXX
                    XXXXXXXXXXXXXX
                    XXXXXXXXXXXXXX ngettext(u'Remove the access of one person?', u'Remove the access of %(n)s people?', count) 
                      SSSSSS SSS SSSSSS SS SSS SSSSSSS
                    
                      PPPPPP PPP PPPPPP PP PPPPP PPPPPPP
                    XX
               ngettext(u'Accept: one person loses access', u'Accept: %(n)s people lose access', count) 
                SSSSSSS SSS SSSSSS SSSSS SSSSSS
              
                PPPPPPP PPPPP PPPPPP PPPP PPPPPP
              
            XXXXXXXXX
          XXXXXXX
        BBBBB
      XXXXXX
    BBBBB
    XXXX XXXXXXXXXXXXX XXXXXXXXXXX
      XXXXXXXX
        XXXX pgettext(u'heading', u'Rules') XXXXX
      XXXXXXXXX
      XXXXX XXXXXXXXXXX XXXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        BBBBBBBBBB
        XX XXXXXXXXXXXXXX
           gettext(u'For each organization and team, the first rule that matches a person decides. * matches everyone in the directory.') 
            SSS SSSS SSSSSSSSSSSS SSS SSSSS SSS SSSSS SSSS SSSS SSSSSSS S SSSSSS SSSSSSSS S SSSSSSS
            SSSSSSSS SS SSS SSSSSSSSSS
          
        XXXX
        BB BBB BBBBB
          XX XXXXXXXXXXXXX gettext(u'No rules: nobody gets access. The simplest rule gives * the role member.') XXXX
        BBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BB BBBBBBBBB
          XXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Save rules') XXXXXXXXX
          XXXXXX
        BBBBB
      XXXXXXX
    XXXXXX
    BB BBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX
            BB BBBBBBBBBBB BB BBBBB
               pgettext(u'heading', u'Dry run result') 
            BBBB BBBBBBBBBBB BB BBBBBBBBB
               pgettext(u'heading', u'Stopped sync') 
            BBBB
               pgettext(u'heading', u'Last sync') 
            BBBBB
          XXXXX
          XXXXX XXXXXXXXXXXXXX
            FFF
            BB BBBBBBBBBX BBBBB
          XXXXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXX XXXXXXXXX
          XXX
            BBB BBBBBB BBBB BB BBBBBB
              XX XXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXX FFFFFFFFFF
              BB BBB BBBBBBBBBBBBXBBBBB
            BBBBBB
          XXXX
          BB BBBBBBBBB
            XXXXX XXXXXXXXXXXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXXX
              BBBBBBBBBB
              XXXX XXXXXXXXXXXXXXXXXXX
                XXXXXX XXXXXXXXXXX XXXXXXX
                  XXXXXXX
                    XXXX
                      XXXX pgettext(u'column', u'Person') XXXXX
                      XXXX pgettext(u'column, what changed', u'Change') XXXXX
                    XXXXX
                  XXXXXXXX
                  XXXXXXX
                    BBB BBBB BB BBBBBBBBB
                      XXXX
                        XXX XXXXXXXXXXXXX
                          BB BBBBBBBBB BB BBBBBBB BBB BBBBBBBBB BBB BBBBBBBBBBBBBBBBB BBB BBB BBBBBBB
                            XXXXXX XXXXXXXXXXXXXX
                              XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXX
                              
                            XXXXXXXX
                          BBBB
                            
                          BBBBB
                        XXXXX
                        XXX XXXXXXXXXXXXX
                          XXXXXXX XXXXXXXBB BBBBBBBBB BB BBBBBBBXXXXXXBBBB BBBBBBBBB BB BBBBBBBXXXXXXXXXBBBB BBBBBBBBB BB BBBBBBBXXXXXXXBBBBXXXXXXXXBBBBBXXXXXXXXXXX
                        XXXXX
                      XXXXX
                    BBBBBB
                  XXXXXXXX
                XXXXXXXX
              XXXXXX
              BB BBBB
                XX XXXXXXXXXXXXXX
                   pgettext(u'text, workspaces', u'and %(n)s more') SSS SSSSS SSSS
                XXXX
              BBBBB
              BB BBBBBBBBBBB BBB BBBBBBBBB BBB BBBBBBBBBBBBBBBBB BBB BBB BBBBBBB
                XXXX XXXXXXXXXXXX
                  XXXXXXX XXXXXXXXXXX
                          XXXXXXXXX
                          XXXXXXXXXXXX
                          XXXXXXXXXXXXXX gettext(u'Link the selected accounts? These people will sign in to them with the directory.') 
                            SSSS SSS SSSSSSSS SSSSSSSSS SSSSS SSSSSS SSSS SSSS SS SS SSSS SSSS SSS
                            SSSSSSSSSS
                          XX gettext(u'Link selected accounts') XXXXXXXXX
                XXXXXX
              BBBBB
            XXXXXXX
          BBBB BBBBBBBBBBB BB BBBBBBBBBBB BB BBBBBBBBBBB BB BBBBB
            XX XXXXXXXXXXXXXX gettext(u'Everything is in sync.') XXXX
          BBBBB
        XXXXXX
      XXXXXX
    BBBB BBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXX pgettext(u'heading', u'Not synced yet') XXXXX
        XXX
           gettext(u'People appear one by one as they sign in. A sync adds everyone at once and notices who left. After the first one it runs regularly.') 
            SSSSSS SSSSSS SSS SS SSS SS SSSS SSSS SSS S SSSS SSSS SSSSSSSS SS SSSS SSS SSSSSSS SSS
            SSSSS SSSSS SSS SSSSS SSS SS SSSS SSSSSSSSSS
          
        XXXX
      XXXXXX
    BBBBB
    BB BBBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX gettext(u'Left the directory') XXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Person') XXXXX
                XXXX pgettext(u'column', u'Active jobs') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Since') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB B BB BBBBBBB
                XXXX
                  XXX XXXXXXXXXXXXX XXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX
                  XXX XXXXXXXXXXXXX
                    BBB B BB BBBBBB
                      XX XXXXXXXXXXXX XXXXXXXX X XXXX
                    BBBBB
                      XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'None') XXXXXXX
                    BBBBBB
                  XXXXX
                  XXX XXXXXXXXXX XXXXX XXXXXXXXFFFXXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      XXXXXX
    BBBBB
    BB BBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXX pgettext(u'heading', u'Syncs') XXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'When') XXXXX
                XXXX pgettext(u'column', u'Result') XXXXX
                XXXX pgettext(u'column', u'By') XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB B BB BBBB
                XXXX
                  XXX XXXXXXXXXXXXXXXFFFXXXXX
                  XXX XXXXXXXXXXXXX
                    XXXXXXXX XXXXXXXXX XXXXXXXX XX
                    BB BBBBBBBBB
                      XXXXX XXXXXXXXXXXXXXXXXXXXX
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXXXXXXFFFFFFFFFFFXXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      XXXXXX
    BBBBB
    BB BBBBBBB
      XX XXXXXXXXXXXBB BBB BBBBBBBBBBB XXXXBBBBBXX
        BB BBBBBBBBBBB
           gettext(u'Creates accounts only for addresses at %(d)s. Invite other people; they can link this directory in their account settings.') 
            SSSSSSS SSSSSSSS SSSS SSS SSSSSSSSS SS SSSSSS SSSSSS SSSSS SSSSSSS SSSS SSS SSSS SSSS
            SSSSSSSSS SS SSSSS SSSSSSS SSSSSSSSS
          
        BBBB
           gettext(u'Creates no accounts, because it has no email domains. Ask a platform operator to add yours, or invite people; they can link this directory in their account settings.') 
            SSSSSSS SS SSSSSSSSS SSSSSSS SS SSS SS SSSSS SSSSSSSS SSS S SSSSSSSS SSSSSSSS SS SSS
            SSSSSS SS SSSSSS SSSSSSS SSSS SSS SSSS SSSS SSSSSSSSS SS SSSSS SSSSSSS SSSSSSSSS
          
        BBBBB
      XXXX
    BBBBB
    BB BBBBBBB BBB BBBBBBBBBB BB BBBBBBB BBB BBBBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Sign-in page') XX
        XX XXXXXXXXXXXXXX
          BB BBBBBBBBBBB BBB BBBBBBBBBB
             gettext(u"People with an address at %(d)s are offered it when they sign in. Others find it on your organization's sign-in page:") 
              SSSSSS SSSS SS SSSSSSS SS SSSSS SSS SSSSSSS SS SSSS SSSS SSSS SSS SSSSSS SSSS SS SS
              SSSS SSSSSSSSSSSSSS SSSSSSS SSSSS
            
          BBBB BBBBBBBBBB
             gettext(u"People find it on your organization's sign-in page. With email domains, people with such an address are offered it everywhere.") 
              SSSSSS SSSS SS SS SSSS SSSSSSSSSSSSSS SSSSSSS SSSSS SSSS SSSSS SSSSSSSS SSSSSS SSSS
              SSSS SS SSSSSSS SSS SSSSSSS SS SSSSSSSSSSS
            
          BBBB BBBBBBBBBBB
             gettext(u"People with an address at %(d)s sign in with their password of this directory. Others choose it on your organization's sign-in page:") 
              SSSSSS SSSS SS SSSSSSS SS SSSSS SSSS SS SSSS SSSSS SSSSSSSS SS SSSS SSSSSSSSSS
              SSSSSS SSSSSS SS SS SSSS SSSSSSSSSSSSSS SSSSSSS SSSSS
            
          BBBB
             gettext(u"People choose this directory on your organization's sign-in page. With email domains, nobody has to choose.") 
              SSSSSS SSSSSS SSSS SSSSSSSSS SS SSSS SSSSSSSSSSSSSS SSSSSSS SSSSS SSSS SSSSS SSSSSSSS
              SSSSSS SSS SS SSSSSSS
            
          BBBBB
        XXXX
        XXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX XX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBB
      XXXXX XXXXXXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXX XXXXXX
                XXXXXXXXX
                XXXXXXXFFFFFFFFFFFFFFFFFFFFFFXX
          BB BBBBBBBBBBBBBB
             pgettext(u'button', u'Disable') 
          BBBB
             pgettext(u'button', u'Enable') 
          BBBBB
        XXXXXXXXX
      XXXXXXX
      BB BBBBBBBB
         ngettext(u'Delete this directory? Nobody can sign in with it any more; people keep their roles. One person it suspended stays suspended, unless you chose to restore them.', u'Delete this directory? Nobody can sign in with it any more; people keep their roles. %(n)s people it suspended stay suspended, unless you chose to restore them.', count) 
          SSSSSS SSSS SSSSSSSSSS SSSSSS SSS SSSS SS SSSS SS SSS SSSSS SSSSSS SSSS SSSSS SSSSSS SSS
          SSSSSS SS SSSSSSSSS SSSSS SSSSSSSSSS SSSSSS SSS SSSSS SS SSSSSSS SSSSS
        
          PPPPPP PPPP PPPPPPPPPP PPPPPP PPP PPPP PP PPPP PP PPP PPPPP PPPPPP PPPP PPPPP PPPPPP PPPPP
          PPPPPP PP PPPPPPPPP PPPP PPPPPPPPPP PPPPPP PPP PPPPP PP PPPPPPP PPPPP
        
      BBBB
         gettext(u'Delete this directory? Nobody can sign in with it any more; people keep their roles.') 
          SSSSSS SSSS SSSSSSSSSS SSSSSS SSS SSSS SS SSSS SS SSS SSSSS SSSSSS SSSS SSSSS SSSSSS
        
      BBBBB
      XXXXX XXXXXXXXXXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXXXXXX
        BBBBBBBBBB
        BB BBBBBBBB
          XXXXXXXXX
            XXXXXXXX XXXXXXXXXXXXXX
               ngettext(u'It suspended one person', u'It suspended %(n)s people', count) 
                SS SSSSSSSSS SSS SSSSSS
              
                PP PPPPPPPPP PPPPP PPPPPP
              
            XXXXXXXXXX
            XX XXXXXXXXXXXX XXXXXXX
              BBB BBBBB BB BBBBBBBBBBBBBBBBBBBBB
                BB BBB BBBBBBBBBBBBXBBBBB
              BBBBBB
            XXXX
          XXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXX
             gettext(u'Restore them when it is deleted') 
          XXXXXXXX
        BBBBB
        XXXXX
          XXXXXXX XXXXXXXXXX XXXXX XXXXX XXXXXXX
                  XXXXXXXXX
                  XXXXXXXXXXXXXXX pgettext(u'button', u'Delete permanently') XXXXXXXXX
        XXXXXX
      XXXXXXX
    BBBBB
    BB BBBBBBBBBBBB
      XXXXXXX XXXXXXXXXXXX XXXXXXXXX XXXX  XXXXXXXXXX XX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
