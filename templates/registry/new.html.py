BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX gettext(u'Register a model') X
          XXXXX gettext(u'Programs load a registered model by its name. Its files are numbered versions that never change.') X XX
  BB BBBBB
    XXXXX XXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
      XXXX XXXXXXXXXXX XXXXXXXXX
        BBBBBBBBBB
        XXXX XXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field', u'Team') XXXXXXX
            XXXXXXX XXXXXXXXXXXX
              BBB B BB BBBBB
                XXXXXXX XXXXXXXX BB BBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
              BBBBBB
            XXXXXXXXX
          XXXXXXXX
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX pgettext(u'field', u'Name') XXXXXXX
            XXXXXX XXXXXXXXXXX
                   XXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXXX
            XXXXXXXXX XXXXXXXXXXXXXXXXXX
              BBB BBBB BB BBBBB
                XXXXXXXXXXXXXXXXX
              BBBBBB
            XXXXXXXXXXX
            XXXXXXX gettext(u'Such as product-classifier.') XXXXXXXX
          XXXXXXXX
        XXXXXX
        XXXX XXXXXXXXXXXX
             XXXXXXXXXXXXXXXXX
             XXXXXXXXXXXX pgettext(u'heading', u'Files') XX
          XXXXXXX
            XXX
              XXXXXX XXXXXXXXXXXX
                     XXXXXXXXXXXX
                     XXXXXXXXXXXXXX
                     BB BBB BBBBBBBBBBBB BBB BBBBBBBBBBB BB BBBBBBBBXXXXXXXBBBBBX
               pgettext(u'choice', u'Upload files') 
            XXXX
            XXXXXX gettext(u'Choose or drop them in the next step.') XXXXXXX
          XXXXXXXX
          XXXXXXX
            XXX
              XXXXXX XXXXXXXXXXXX
                     XXXXXXXXXXXX
                     XXXXXXXXXXXXXX
                     BB BBBBBBBBBBBB BB BBBBBBBBBBB BB BBBBBBBBXXXXXXXBBBBBX
               gettext(u'Take them from a run or a checkpoint') 
            XXXX
            XXXXXX gettext(u'Nothing is uploaded again.') XXXXXXX
          XXXXXXXX
        XXXXXX
        XXXXXX XXXXXXXXXXXX XXXXXXXXXXX
          XXXXXX pgettext(u'field', u'Source') XXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
          XXXXXXX gettext(u"A folder of a run's artifacts, or a checkpoint such as checkpoints:/resnet@3. If the model exists, it gets a new version.") XXXXXXXX
        XXXXXXXX
        XXXX XXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXXXX pgettext(u'button', u'Continue to upload') XXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXXXX pgettext(u'button', u'Register') XXXXXXXXX
          XX XXXXXXXXXXX XXXXXXBBB BBBBBBBB BBBBBBBBBBBBXX pgettext(u'button', u'Cancel') XXXX
        XXXXXX
      XXXXXX
    XXXXXXX
    XXXXXXXX XXXXXXX gettext(u'From the command line') X XXXXXXXXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXX XXXXX XXXXXX XXXXXXXX XXXXXXX XXXXXXX XXXXXXXXX XX
    XXXXXXXXXX
  BBBB
    XXXXXXXX XXXXXXX gettext(u"You can't register models") XX
       gettext(u'Ask a team admin to add you to a team as a member.') 
    XXXXXXXXXX
  BBBBB
BBBBBBBB
