BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Check access') X
          XXXXX gettext(u'See whether someone can do something, why, and what would change it.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Roles') XXXX
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXX XXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Person') XXXXXXX
          BB BBBBBB
            XXXXXXX XXXXXXXXXXXX
              BBB B BB BBBBBB
                XXXXXXX XXXXXXXX
                        BB BBBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBX X XXXXXXXXX
              BBBBBB
            XXXXXXXXX
          BBBB
            XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXX XXXXXXXXX
          BBBBB
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Action') XXXXXXX
          XXXXXXX XXXXXXXXXXXXXXXXXX
            BBB B BB BBBBBB
              XXXXXXXXX XXXXXXXFFFFFFFFFFXX
                BBB BBB BB BBBBBB
                  XXXXXXX XXXXXXXX
                          BB BBBBBBBBBBBBBB BB BBBBBBXXXXXXXXBBBBBXFFFFFFFFFFFFFFFFFFXXXXXXXXX
                BBBBBB
              XXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Where') XXXXXXX
          XXXXXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXX gettext(u"In the person's teams") XXXXXXXXX
            XXXXXXX XXXXXXXXX
                    BB BBBBBBBBBB BB BBBXXXXXXXXBBBBBX gettext(u'Anywhere in the organization') XXXXXXXXX
            BB BBBBBBBBB
              XXXXXXXXX XXXXXXX gettext(u'Teams of the person') XX
                BBB B BB BBBBBBBBB
                  XXXXXXX XXXXXXXX BB BBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
                BBBBBB
              XXXXXXXXXXX
            BBBBB
            BB BBBBBBBBBBB
              XXXXXXXXX XXXXXXX pgettext(u'group of choices', u'Other teams') XX
                BBB B BB BBBBBBBBBBB
                  XXXXXXX XXXXXXXX BB BBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
                BBBBBB
              XXXXXXXXXXX
            BBBBB
          XXXXXXXXX
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX gettext(u'One job or asset (optional)') XXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXX
        XXXXXXXX
        XXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Check') XXXXXXXXX
        XXXXXX
      XXXXXX
    XXXXXXX
    BB BBBBB
      XXXX XXXXXXXXXXX XXXX XXXXXXXXXXXXXFFFFFFFFFFXXXXXX
    BBBBB
    BB BBBBBB
      XXXX XXXXXXXXXXXX XXXXXXXX
        XXXXXXXX
          XXXX
            XXXXXXX XXXXXXXBB BBBBBBBBBBBBBBXXXXXXXXXBBBBXXXXXXBBBBBX
                    XXXXXXXXXXXX
              BB BBBBBBBBBBBBBB
                 pgettext(u'heading', u'Allowed') 
              BBBB
                 pgettext(u'heading', u'Not allowed') 
              BBBBB
            XXXXXXXXX
          XXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXX XXXXXXXXX
          XXX
            BB BBBBBBBBBBB BBB BBB BBBBB
              BBBBBBB BBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBB BB BBBBBBBBB
               pgettext(u'name of a value', u'in team %(t)s') SS SSSS SSSSS
            BBBB BBB BBBBB
               gettext(u'everywhere in the organization') 
            BBBBB
            BBBBBBB BBBBB BBBBBBBBBBB BB BBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBB BB BBB
            BB BBBBBBBBBBBBBB
               gettext(u'<strong>%(who)s</strong> can %(act)s %(where)s') 
                SSSSSSSSSSSSSSSSSSSSSSSS SSS SSSSSSS SSSSSSSSS
              
            BBBB
               gettext(u"<strong>%(who)s</strong> can't %(act)s %(where)s") 
                SSSSSSSSSSSSSSSSSSSSSSSS SSSSS SSSSSSS SSSSSSSSS
              
            BBBBB
            BB BBBBB
              XX XXXXXXXX pgettext(u'link', u'Open it') XXXX
            BBBBB
            XXXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXXX
          XXXX
          XXX XXXXXXXXXXXXXX
            BBB BBBB BB BBBBBBBBBBBB
              XXX XXXXXXXBB BBBBBBBBBBBBBBBB XXXXXXXXXXXBBBBBXX
                XXX
                  BB BBBBBBBBBBB BB BBBBBBBB
                     pgettext(u'text, workspaces', u'grants') 
                  BBBB BBBBBBBBBBB BB BBBBBBBB
                     pgettext(u'text, workspaces', u'blocks') 
                  BBBB
                     pgettext(u'text, workspaces', u'no grant') 
                  BBBBB
                XXXX
                XXXXXX
                  FFFFFFFFFF
                  BB BBBBBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXX pgettext(u'state', u'decides') XXXXXXX
                  BBBBB
                XXXXXXX
              XXXXX
            BBBBBB
          XXXXX
          BB BBBBBBBBBBBBBBBBBB
            XXXXX
              XXXX gettext(u'Any of these would allow it') XXXXX
              XXX XXXXXXXXXXXXXX
                BBB BBB BB BBBBBBBBBBBBBBBBBB
                  XXXXFFFFFFFFFFXXXXX
                BBBBBB
              XXXXX
            XXXXXX
          BBBBB
          BB BBBBBB
            XX XXXXXXXXXX XXXXXX
              XXXXX XXXXXXXXXXXXXX gettext(u"The person's other teams:") XXXXXXX
              BBB BBB BB BBBBBB
                XX XXXXXXXXXXXX
                   XXXXXXXXXXXXFFFFFFFFFXXXXXXXXXXXXFFFFFFFFFXXXXXXXX
                  XXXXXXX XXXXXXXBB BBBBBBBBBBBXXXXXXXXXBBBBXXXXXXBBBBBXXFFFFFFFFFFFFFFFFFFFFFFFFFFFFXXXXXXXXX
                XXXX
              BBBBBB
            XXXX
          BBBBB
          XXXXXXXX XXXXXXXXXXXXXX
            XXXXXXXXX pgettext(u'heading', u'On the command line') XXXXXXXXXX
            XXXXXXX XXXXXXXXXXXXXXX XX
          XXXXXXXXXX
        XXXXXX
      XXXXXX
    BBBB BBB BBBBB
      XXXX XXXXXXXXXXXXXX
        XXXX gettext(u'Choose a person and an action') XXXXX
        XXX
           gettext(u'The answer lists every role involved, which one decides, and the smallest change that would allow it.') 
            SSS SSSSSS SSSSS SSSSS SSSS SSSSSSSSS SSSSS SSS SSSSSSSS SSS SSS SSSSSSSS SSSSSS SSSS
            SSSSS SSSSS SSS
          
        XXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
