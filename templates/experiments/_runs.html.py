BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXX XXXXXXXXXXXFFFFFFFFFFFFFFFFFFXX
  BB BBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
  BBBB BBBBBB BB BBB BBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
  BBBB
    XXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
      BB BBBBBBBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'empty list', u'No runs here') XX
           gettext(u'Archived and deleted runs are kept here.') 
        XXXXXXXXXX
      BBBB
        XXXXXXXX XXXXXXX pgettext(u'empty list', u'No runs yet') X
                 XXXXXXXXXXXXXXXXXXX
           gettext(u'A run is one execution of your program, with its parameters, metrics and files.') 
          XXXXXXX XXXXXXXXXXXXXXX
            XX XXXXXXXXXX XXXXXXXX XXXXXXXX pgettext(u'button', u'New job') XXXX
          XXXXXXXXX
        XXXXXXXXXX
      BBBBB
    XXXXXXXXXX
  BBBBB
XXXXXX
