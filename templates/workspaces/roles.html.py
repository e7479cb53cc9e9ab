BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'What each role lets people do. A team role adds to the organization role, in that team.') 
    SSSS SSSS SSSS SSSS SSSSSS SSS S SSSS SSSS SSSS SS SSS SSSSSSSSSSSS SSSSS SS SSSS SSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Roles') X XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Check access') XXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'New custom role') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BBB BBBBB BB BBBBBB
      XXXXXXXX XXXXXXXFFFFFFFFFFX
               XXXXXXXFFFFFFX
               XXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              BBB BB BBBBBBB BB BBBBBBBBBBBBBBB
                XXX BB BBB BBBBBBBBBBBBBXXXXXXXXXXXXXXXXXXXXBBBBBX
                  XXX XXXXXXXXXXX XXXXXXXX
                    BB BBBBBBBBBBBBB
                      XXXFFFFFFFFFFXXXX
                    BBBB
                      XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                      XXXXX XXXXXXXXXXXXX pgettext(u'role', u'Custom') XXXXXXX
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXXXXX
                    
                    BB BBBBBBBBB
                      XXXXX XXXXXXXXXXXXXXXXXX
                         pgettext(u'value', u'unknown: %(names)s') 
                          SSSSSSSS SSSSSSSSS
                        
                      XXXXXXX
                    BBBBB
                  XXXXX
                  XXX XXXXXXXXXX XXXXXX XXXXXXX
                     npgettext(u'number of things', u'%(n)s person', u'%(n)s people',count) 
                      SSSSS SSSSSS
                    
                      PPPPP PPPPPP
                    
                  XXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      XXXXXXXXXX
    BBBBBB
    XXXX pgettext(u'heading', u'Every permission') XXXXX
    BBB BBBBB BB BBBBBB
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX
          XXXXFFFFFFFFFFXXXXX
          XXXXX XXXXXXXXXXXXXXFFFFFFXXXXXXX
        XXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXXX
            XXXXXXX
              XXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Permission') XXXXX
                BBB B BB BBBBBBBBBBB
                  XXX XXXXXXXXXXXX
                    BB BBBBBBBBBBBBB
                      FFFFFFFFFF
                    BBBB
                      XX XXXXXXXXXXXXXXXXXXXX
                    BBBBB
                    XXXXX XXXXXXXXXXXX XXXXXXX
                       npgettext(u'number of things', u'%(n)s person', u'%(n)s people',count) 
                        SSSSS SSSSSS
                      
                        PPPPP PPPPPP
                      
                    XXXXXXX
                  XXXXX
                BBBBBB
              XXXXX
            XXXXXXXX
            BBB B BB BBBBBBBBBBBB
              XXXXXXX
                BBB BBB BB BBBBBB
                  XXXX
                    XXX XXXXXXXXXXXX
                      FFFFFFFFFFFFFFFFFF
                      XXXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXXX
                    XXXXX
                    BBB BBB BB BBBBBBBBB
                      XXX XXXXXXXXXXXXX
                        BB BBB
                          XXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
                          XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'value', u'yes') XXXXXXX
                        BBBB
                          XXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX
                          XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'value', u'no') XXXXXXX
                        BBBBB
                      XXXXX
                    BBBBBB
                  XXXXX
                BBBBBB
              XXXXXXXX
            BBBBBB
          XXXXXXXX
        XXXXXX
      XXXXXX
    BBBBBB
    BB BBBBBBBBB
      XXXXXXXXXXXXXX XXXXXXXXXXXXX
                     XXXXXXX pgettext(u'heading', u'New custom role') X
                     XXXXXXXX pgettext(u'button', u'Create role') X
                     XXXXXXXXXXXX
                     XXXXXXXXXXXXXXXXX
         gettext(u'What is it for?') 
         gettext(u'Use lowercase letters, digits and hyphens. Begin with a letter and end with a letter or digit.') 
        XXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXX XX
        XXXX XXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field', u'Name') XXXXXXX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXX
                   XXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXX
          XXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field', u'Short name') XXXXXXX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXX
          XXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field, duration', u'For') XXXXXXX
            XXXXXXX XXXXXXXXXXXX
              XXXXXXX XXXXXXXXXXXX pgettext(u'choice', u'The organization') XXXXXXXXX
              XXXXXXX XXXXXXXXXXXXBB BBBBBBBBB BB BBBBBB XXXXXXXXBBBBBX
                 pgettext(u'choice', u'Teams') 
              XXXXXXXXX
            XXXXXXXXX
          XXXXXXXX
        XXXXXX
        XXXXXXXXBB BBBBBBBBB BBB BBB BBBBBBBBBBB XXXXBBBBBX
          XXXXXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Customize') XXXXXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXXXX
      XXXXXXXXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
