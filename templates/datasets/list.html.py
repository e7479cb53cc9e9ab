BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXXFFFFFFFFFFXXXXX
      XX XXXXXXXXXXXX
        BB BBBB BB BBBBBBBBB
           gettext(u'Versioned files that teams share and jobs read.') 
        BBBB
           gettext(u'What jobs saved while training: versioned files to continue from, to evaluate or to publish.') 
        BBBBB
      XXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      BB BBBBBBBBBBB
        XX XXXXXXXXXXX
           XXXXXXBBB BBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBXX pgettext(u'button', u'Retention') XXXX
      BBBBB
      BB BBBBBBBBB
        XX XXXXXXXXXXX
           XXXXXXBBB BBBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBXX pgettext(u'button', u'Trash') XXXX
      BBBBB
      BB BBBBB BBB BBB BBBBBBBBBBBBB
        BB BBBB BB BBBBBBBBB
          XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'New dataset') X XX
        BBBB
          XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'New checkpoint') X
                    XXXXXXXXXXXX XX
        BBBBB
      BBBBB
    XXXXXX
  XXXXXX
  BB BBB BBBBBBBBBBBBB
    XXXXXXXXXX XXXXXXXXXXXX XX
  BBBBB
  XXXXXXXX XXXXXXXXXXXXX
    BB BBBB BB BBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No datasets yet') X
               XXXXXXXXXXXXXXX XXXXXXX XXXXXX XXXXXX XXXXXXXXXXXX
         gettext(u'A dataset is a folder of files with versions. Teams share it, and jobs download it by name and version. Drop a folder here to create one.') 
          S SSSSSSS SS S SSSSSS SS SSSSS SSSS SSSSSSSSS SSSSS SSSSS SSS SSS SSSS SSSSSSSS SS SS SSSS SSS SSSSSSSS
          SSSS S SSSSSS SSSS SS SSSSSS SSSS
        
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'New dataset') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBB
      XXXXXXXX XXXXXXX gettext(u'No checkpoints yet') X
               XXXXXXXXXXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXX
         gettext(u'A checkpoint is a folder of weights and states with versions, which jobs write while they train. Drop a folder here to create one.') 
          S SSSSSSSSSS SS S SSSSSS SS SSSSSSS SSS SSSSSS SSSS SSSSSSSSS SSSSS SSSS SSSSS SSSSS SSSS SSSSSS SSSS S SSSSSS
          SSSS SS SSSSSS SSSS
        
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'New checkpoint') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXXXXXX
  BB BBBBB
    BB BBBB BB BBBBBBBBB
       pgettext(u'heading', u'New dataset') 
    BBBB
       pgettext(u'heading', u'New checkpoint') 
    BBBBB
    XXXXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXX XXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXX
            XXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXX XXXXXXXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                   XXXXXXX gettext(u'Use letters, digits and . _ - and begin with a letter or digit.') X
                   XXXXXXXXX
                   XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXX
            XXXXXXX gettext(u'Letters, digits and . _ - without spaces.') XXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
            XXXXXXX XXXXXXXXXXXX
              BBB BBB BB BBBBB
                XXXXXXX XXXXXXXX BB BBBBBBBB BB BBBBXXXXXXXXBBBBBXXXXXXXXXX
              BBBBBB
            XXXXXXXXX
          XXXXXXXXXX
        XXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Description') XX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
        XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBB
        XXXX XXXXXXXXXXXXXXXXX XXXXXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXX
        XXXX XXXXXXXXXX XXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Pause') XXXXXXXXX
          XXXXXXX XXXXXXXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Create') XXXXXXXXX
        XXXXXX
      XXXXXXX
    XXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
