BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXXFFFFFFFFFFXXXXX
      XX XXXXXXXXXXXX gettext(u'Folders that a team shares: people change files, and jobs read and write them.') XXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      BB BBBBBBBBB
        XX XXXXXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBBBB BBBBBBBBBBBBXX pgettext(u'button', u'Trash') XXXX
      BBBBB
      BB BBBBB BBB BBB BBBBBBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'New workspace') X XX
      BBBBB
    XXXXXX
  XXXXXX
  BB BBB BBBBBBBBBBBBB
    XXXXXXXXXX XXXXXXXXXXXX XX
  BBBBB
  XXXXXXXX XXXXXXXXXXXXX
    XXXXXXXX XXXXXXX gettext(u'No workspaces yet') X
             XXXXXXXXXXXXXXX XXXXXXXXX XXXXXX XXXXXXXXX
       gettext(u'A workspace is a folder for code, notes and results that a team works on together. It has no versions; jobs mount it and may write to it. Drop a folder here to create one.') 
        S SSSSSSSSS SS S SSSSSS SSS SSSSS SSSSS SSS SSSSSSS SSSS S SSSS SSSSS SS SSSSSSSSS SS SSS SS SSSSSSSSS SSSS
        SSSSS SS SSS SSS SSSSS SS SSS SSSS S SSSSSS SSSS SS SSSSSS SSSS
      
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBB
          XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'New workspace') X XX
        BBBBB
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXXXXXX
  BB BBBBB
    XXXXXXXXX XXXXXXXXXXXXXXXXXX
              XXXXXXX pgettext(u'title of a dialog', u'New workspace') X
              XXXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXX XXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXXXXXXXXXXXXXXX
            XXXXXXXXXXXX
            XXXXXXXXXXX
            XXXXXXXXXXXXX
        BBBBBBBBBB
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u'Files can be changed at any time, by people and jobs, and have no versions. For data that must stay as it is, create a dataset.') 
        XXXX
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
