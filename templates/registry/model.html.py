BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BBB BBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBB BBBBBBBBBBBBBBBB BB BBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX
        XXX XXXXXXXXXXXXXXXXXX
        BB BBBBBBBBBBBBBBBBBBBBBBB
          XXXXX XXXXXXXXXXXXX pgettext(u'state', u'requires approval') XXXXXXX
        BBBBB
      XXXXXX
      XX XXXXXXXXXXXX
        XX XXXXXXBBB BBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBXXXXXX
        X  X  pgettext(u'text, registry', u'updated %(time)s') SSSSSSS SSSSSSSS
      XXXX
    XXXXXX
    BB BBBBBBBBB
      XXXX XXXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Settings') XXXXXXXXX
        BB BBBBB
          XXXXXXXXX XXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'New version') X
                    XXXXXXXXXXXX XX
        BBBB BBBBBBBB
          XXXXXXXXX XXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New version') X XX
        BBBBB
        XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XX
      XXXXXX
    BBBB
      XXXX XXXXXXXXXXXXXXXX
        XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XX
      XXXXXX
    BBBBB
  XXXXXX
  XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXXXXX XX
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Versions') X
                 XXXXXXXX
                 XXXXXXXXX
                 XXXXXXXXXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXXXX
      BBBB
        XXXXXXXX XXXXXXX pgettext(u'empty list', u'No versions yet') X
                 XXXXXXXXXXXXXXX XXXXX XXXXXX X XXXXXXXXX
           gettext(u'A version is a set of files that never change. Upload one, or register one from a run.') 
          XXXXXXX XXXXXXXXXXXXXXX
            BB BBBBBBBBB
              XXXXXXXXX XXXXXXXXXXXXXX XXXXXXX pgettext(u'field', u'New version') X XX
            BBBBB
          XXXXXXXXX
        XXXXXXXXXX
      BBBBB
      BB BBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Use it') XX
          BB BBBBB
            XX XXXXXXXXXXXX XXXXXXX
              BB BBBBBBBBBBBBBBBBBBBBBBB BBB BBBBBBBBBBB BB BBBBBBBBBBBB
                 gettext(u'Loads version %(n)s, which is approved.') 
                  SSSSS SSSSSSS SSSSSS SSSSS SS SSSSSSSSS
                
              BBBB BBBBBBBBBBBBBBBBBBBBBBB
                 gettext(u'Loads version %(n)s, the approved one. Version %(latest)s is not approved.') 
                  SSSSS SSSSSSS SSSSSS SSS SSSSSSSS SSSS SSSSSSS SSSSSSSSSS SS SSS SSSSSSSSS
                
              BBBB
                 gettext(u'Loads version %(n)s.') 
                  SSSSS SSSSSSS SSSSSS
                
              BBBBB
            XXXX
            XXXXXXX XXXXXXXXXXXXXXXXXXXX XX
            XXXXXXX XXXXXXXXXXXXXXXXXXXXX XX
          BBBB
            XXX gettext(u'No approved version yet.') XXXX
            XX XXXXXXXXXXXX XXXXXXX
               gettext(u'This model requires approval: nothing is recommended until a version is approved.') 
            XXXX
          BBBBB
        XXXXXXXXXX
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Model card') XX
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBBB
            XXXXXXX XXXXXXXXXX XXXXXX
                    XXXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXXXXXXX
          BBBBB
        XXXXXXXXX
        BB BBBBBBBBBBBBBBBBB
          XXXX XXXXXXXXXXXXXXXXXFFFFFFFFXXXXXX
        BBBB
          XX XXXXXXXXXXXXXX
             gettext(u'What is it for, which data was it trained on, how was it evaluated, and what are its limits? Approval requires this card or a description of the version.') 
              SSSS SS SS SSSS SSSSS SSSS SSS SS SSSSSSS SSS SSS SSS SS SSSSSSSSSS SSS SSSS SSS SSS SSSSSSS SSSSSSSS
              SSSSSSSS SSSS SSSS SS S SSSSSSSSSSS SS SSS SSSSSSSS
            
          XXXX
        BBBBB
      XXXXXXXXXX
      BB BBBBBBBBBBBBB
        XXXXXXXX XXXXXXX gettext(u'Metrics by version') X XXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXXXX
              XXXXXXX
                XXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Metric') XXXXX
                  BBB B BB BBBBBBBBBBBBBBBBBXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXBBBBBB
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB BBBBB BBBBBB BB BBBBBBBBBBBBB
                  XXXX
                    XXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                    BBB BBBBB BB BBBBBB
                      XXX XXXXXXXXXXXX
                        BB BBBBB BB BBBB
                          XXXXX XXXXXXXXXXXXXXXXXXXXXX
                        BBBB
                          FFFFFF
                        BBBBB
                      XXXXX
                    BBBBBB
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        XXXXXXXXXX
      BBBBB
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Aliases') XX
        BBB BBBBBB BBBBBB BB BBBBBBBBBBBBBBBBBBB
          XXXX XXXXXXXXXX XXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXXXXX
            XX XXXXXXBBB BBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBB BBBBBBBBBBBBBBBB BBBBBBBBBBBBBBXXXXXXX
            BB BBBBBBBBB
              XXXXX XXXXXXXXXXXXXX
                BBBBBBBBBB
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
                XXXXXXX XXXXXXXXXX XXXXX XXXXXX
                        XXXXXXXXX
                        XXXXXXXXXXXXXXXXXXXX
                        XXXXXXXXXXXX pgettext(u'spoken label', u'Remove %(a)s') SSSSSS SSSSSXXXXXXXXXXXX
              XXXXXXX
            BBBBB
          XXXXXX
        BBBBB
          XX XXXXXXXXXXXX XXXXXXX
             gettext(u'Programs load an alias, such as champion, and get the version that it points to.') 
          XXXX
        BBBBBB
        BB BBBBBBBBB BBB BBBBB
          XXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
            BBBBBBBBBB
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXXX
                   XXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXX pgettext(u'spoken label', u'Alias') X
                   XXXXXXXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'spoken label', u'Version') XX
              BBB B BB BBBBBBBB
                BB BBBBBBBB BB BBBBBBB BBB BBB BBBBBBBBBBBBBBBBBBBBBBB BB BBBBBBBBBBBBBBBB BB BBBBBBBBBBXXXXXXX XXXXXXXXXXXXXXXXXXXBBBBB
              BBBBBB
            XXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXXX
                    XXXXXXXXX
                    XXXXXXXXXXXXXXXXXX pgettext(u'button, to set', u'Set') XXXXXXXXX
          XXXXXXX
        BBBBB
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value', u'Owner') XXXXX
          XXXX
            
          XXXXX
          XXXX pgettext(u'name of a value', u'Created') XXXXX
          XXXX
            FFF
          XXXXX
          BBB BBBB BBBBB BB BBBBBBBBBBBBBBBB
            XXX XXXXXXXXXXXXXXXXXX
            XXXX
              
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXX gettext(u'Edit the model card') X
                   XXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Save') X
                   XXXXXXXXXX
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX pgettext(u'field', u'Markdown') XXXXXXX
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXFFFFXX
        XXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXX
    XXXXXXXXXXXXXXXX
    XXXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXX pgettext(u'title of a dialog', u'Settings') XX
      XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Name') XXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXXX
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Tags') XXXXXXX
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXFFFFXX
          XXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXX gettext(u'One key=value per line.') XXXXXXXX
        XXXXXXXX
        BB BBBBBBBBBBB
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXX
                   BB BBBBBBBBBBBBBBBBBBBBBBBXXXXXXXBBBBBX
             gettext(u'Require approval: aliases point only to approved versions') 
          XXXXXXXX
        BBBBB
        XXXX XXXXXXXXXX XXXXX
          XXXXXXX XXXXXXXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
        XXXXXX
      XXXXXXX
      BB BBB BBBBBBBBBB BB BBBBBBBBBBB
        XXXX
        XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XX XXXXXXXXXXXX XXXXXXX gettext(u'The model with all its versions can be restored from the trash.') XXXX
          XXXXX
            XXXXXXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXX
                    XXXXXXXXXXXXXXX pgettext(u'button', u'Move to trash') XXXXXXXXX
          XXXXXX
        XXXXXXX
      BBBBB
    XXXXXXXXXXX
  BBBBB
BBBBBBBB
