BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
BBBBB BBBBBXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Secrets') X
          XXXXX gettext(u'Keys and passwords for jobs. Nobody can read a value after it is saved.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'Add secret') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XX
    XXXXXXXX XXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No secrets yet') X
               XXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX
        BB BBBBBBBB
           gettext(u'Add a secret, then refer to it by name in the spec of a job:') 
        BBBB
           gettext(u'Ask a team lead to add one, then refer to it by name in the spec of a job:') 
        BBBBB
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'Add secret') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXX
  XXXXXX
  BB BBBBBBBB
     pgettext(u'heading', u'Add a secret') 
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Save secret') X
                   XXXXXXXXXXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Available to') XXXXXXX
          XXXXXXX XXXXXXXXXXXXX
            BBB B BB BBBBBBBB
              XXXXXXX XXXXXXXXX
                BB B BB BBBBB
                   pgettext(u'choice', u'All teams') 
                BBBB
                  FFFFFFFFFFFFFF
                BBBBB
              XXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXX
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Name') XXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                 XXXXXXX gettext(u'Use letters, digits and . _ - and begin with a letter or digit.') X
                 XXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
        XXXXXXXX
      XXXXXX
      XXXX XXXXXXXXXXXX XXXXXXXX
        XXXXXX
          XXXXXX XXXXXXXXXXXXXXXXXXX pgettext(u'field', u'Value') XXXXXXXX
        XXXXXXX
        XXXX XXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXXX
                 XXXXXXXXXXX XXXXX
                 XXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Show') XXXXXXXXX
        XXXXXX
        XXXXXXX XXXXXXXXXX XXXXX XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
           gettext(u'Value with several lines') 
        XXXXXXXXX
      XXXXXX
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'Saving a name that exists adds a version. A job gets the newest version when it starts, unless its spec names another.') 
          SSSSSS S SSSS SSSS SSSSSS SSSS S SSSSSSSS S SSS SSSS SSS SSSSSS SSSSSSS SSSS SS SSSSSSS SSSSSS
          SSS SSSS SSSSS SSSSSSSS
        
      XXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
