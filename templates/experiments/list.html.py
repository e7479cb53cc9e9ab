BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Experiments') X
          XXXXX gettext(u'Groups of runs to compare: parameters, metrics and files of each.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBB BBB BBB BBBBBBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'New experiment') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  BB BBB BBBBBBBBBBBBB
    XXXXXXXXXX XXXXXXXXXXXX XX
  BBBBB
  XXXXXXXX XXXXXXXXXXXXX
    XXXXXXXX XXXXXXX gettext(u'No experiments yet') X XXXXXXXXXXXXXXXXXXX
       gettext(u'An experiment is a group of runs: parameters, metrics and files of each, to compare them.') 
      XXXXXXX XXXXXXXXXXXXXXX
        BB BBBBB
          XXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'New experiment') X XX
        BBBBB
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXXXXXX
  BB BBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'New experiment') X
                   XXXXXXXX pgettext(u'button', u'Create') X
                   XXXXXXXXXXXXXXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u"An experiment groups the runs of one question, to compare them. Jobs name it in their spec; those that name none are in the team's default experiment.") 
          SS SSSSSSSSSS SSSSSS SSS SSSS SS SSS SSSSSSSSS SS SSSSSSS SSSSS SSSS SSSS SS SS SSSSS SSSSS SSSSS SSSS SSSS
          SSSS SSS SS SSS SSSSSS SSSSSSS SSSSSSSSSSS
        
      XXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXX
               XXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
        XXXXXXX XXXXXXXXXXXX
          BBB BBB BB BBBBB
            XXXXXXX XXXXXXXX BB BBBBBBBB BB BBBBXXXXXXXXBBBBBXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Description') XX
        XXXXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
