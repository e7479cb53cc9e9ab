BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  BB BBBB
     pgettext(u'heading', u'Connect %(kind)s') SSSSSSS SSSSSSSS
  BBBB
     gettext(u'Connect a cluster') 
  BBBBB
  XXXXXXX XXXXXXXXXXXXXXXX
          XXXXX gettext(u'The scheduler that your jobs run on. Nodes and GPUs are discovered automatically.') X XX
  BB BBBB
    XXXXXXXXX XXXXXXXXXXXXXXX
              XXXXXXXXXXXXXX
              XXXXXXXX pgettext(u'a cluster or directory', u'Connect') X
              XXXXXXX pgettext(u'of a cluster or directory', u'Type') X
              XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
              XXXXXXXXXXX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
      BBB BBBB BB BBBBB
        XXXXXXX XXXXXXX XXXXXXXXXXXXXXXXXXXX
          BB BBBBBBBBBBBBB
            XXXX XXXXXXXXXXXXX XXXXXXXXX
              XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXX XXXXXXXXXXXXXXXXXX pgettext(u'field', u'Name')  XXXXXXXXXXXXXXXX
                XXXXXX XXXXXXXXXXX
                       XXXXXXXXXXXXXXXX
                       XXXXXXXXXXX
                       XXXXXXXXXXXXXX
                       XXXXXXXX
                       XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                       XXXXXXX gettext(u'Use lowercase letters, digits and hyphens. Begin and end with a letter or digit.') X
                       XXXXXXXX
                       XXXXXXXXXXXXXXXXXX
                       BB BBBBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXFFFFFFFFFFXXXXXXXX
                XXXXXXX gettext(u"Lowercase letters, digits and hyphens. It can't be changed later.") XXXXXXXX
              XXXXXX
            XXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
          BBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXXXXX
      BBBBBB
      XXXXXXX XXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Test') XX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        XXXX XXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Test connection') XXXXXXXXX
        XXXXXX
      XXXXXXXXX
      XXXXXXX XXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXX
                XXXXXXXXXXX
                BB BBBBBB BB BBBBBBBBXXXXXXBBBBBX pgettext(u'button', u'Connect anyway') XXXXXXXXX
      XXXXXXXXX
    XXXXXXXXXXX
  BBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBB
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
