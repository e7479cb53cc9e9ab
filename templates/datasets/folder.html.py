BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBB
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBB BB BBBB BB BBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
        BB BBB BBBBBB
          BBB BBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB BB BBBB
          XXXXXXXX
             gettext(u"You're looking at %(r)s, which never changes.") 
              SSSSSS SSSSSSS SS SSSSSS SSSSS SSSSS SSSSSSSS
            
            XX XXXXXXXX
               pgettext(u'link', u'Go to %(b)s') 
                SS SS SSSSS
              
            XXXX
          XXXXXXXXX
        BBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
      BBBB BBBBBBBBB BBB BBBBBB
        XXXXXXXX XXXXXXX gettext(u'Add the first files') XX
          BBBB BBBBBBBBBBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
          BBBBBBB
        XXXXXXXXXX
      BBBB
        XXXXXXXX XXXXXXX pgettext(u'empty list', u'No files yet') XX
           gettext(u'Files appear here when somebody with write access uploads them.') 
        XXXXXXXXXX
      BBBBB
      BB BBBB
        XXXXXXXX XXXXXXXXX
          XXXXXXX XXXXXXXXXXXXXXX
            XX XXXXXXXXXXXXX XXXXXXXX pgettext(u'link', u'Source') XXXX
          XXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXFFFFFFFFXXXXXX
        XXXXXXXXXX
      BBBB BBBBBBB BBB BBB BBBB BBB BBBBBBBBB BBB BBBBBB
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u'Upload a README.md that says where the data comes from, what it contains and how it may be used. It is shown here.') 
        XXXX
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Use it') XX
        BB BBBBBBB
          XX XXXXXXXXXXXX XXXXXXX pgettext(u'text, datasets', u'In a job') XXXX
          XXXXXXX XXXXXXXXXXXXXXXXX XX
          XX XXXXXXXXXXXX XXXXXXX gettext(u'On your computer') XXXX
          XXXXXXX XXXXXXXXXXXXXXXXXXXXX XX
          XX XXXXXXXXXXXX XXXXXXX gettext(u'With clients of the Hugging Face Hub') XXXX
          XXXXXXX XXXXXXXXXXXXXXXXX XX
        BBBB
          XX XXXXXXXXXXXX XXXXXXX gettext(u'Upload from the command line') XXXX
          XXXXXXX XXXXXXXXXXXX  XXXXXX XXXXXX X XX
        BBBBB
      XXXXXXXXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
        XXX XXXXXXXXXXXXXX
          BB BBBBBBB
            XXXX pgettext(u'name of a value', u'Version') XXXXX
            XXXX
               XXXXX XXXXXXXXXXX XXXXXX
                                         XXXXXXXXXFFFFFFFFFFXXXXXXX
            XXXXX
            XXXX pgettext(u'name of a value', u'Committed') XXXXX
            XXXX
              FFFX 
            XXXXX
            BB BBBBBBB
              XXXX pgettext(u'name of a value', u'Made by') XXXXX
              XXXX
                XX XXXXXXXXXXXX
              XXXXX
            BBBBB
          BBBBB
          XXXX pgettext(u'name of a value', u'Storage') XXXXX
          XXXX
            FFFF
            BB BBBBBBBBBBBBBBBBBB B B
              XXXXX XXXXXXXXXXXXXX pgettext(u'value', u'in all versions') XXXXXXX
            BBBBB
          XXXXX
          XXXX pgettext(u'name of a value', u'Created') XXXXX
          XXXX
            FFF
          XXXXX
          BB BBBBBB
            XXXX pgettext(u'name of a value', u'Shared with') XXXXX
            XXXX
              BBB BBBBB BB BBBBBB
                
                BB BBBBBBBBBBBBBBBXXXXX XXXXXXXXXXXXXXX pgettext(u'value', u'can write') XXXXXXXXBBBBB
              BBBBBB
            XXXXX
          BBBBB
        XXXXX
        BB BBBB
          XXXX XXXXXXXXXX XXXXX XXXXXX
            BBB BBB BB BBBBBBBBBBBBBBBB
              XX XXXXXXXXXXXX
                 XXXXXXBBB BBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBXXXXXX
            BBBBBB
          XXXXXX
        BBBBB
      XXXXXXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBBB BBB BBBBBB BBB BBBBBBB
    XXXXXXXXX XXXXXXXXXXX
              XXXXXXX pgettext(u'title of a dialog', u'Upload') X
              XXXXXXXXXXXXX
      BBBB BBBBBBBBBBBBB BBBBBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
      BBBBBBB
    XXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
