BBBB BBBB BBBBBB
 #

 pgettext(u'heading', u'Audit log') 
 pgettext(u'name of a value', u'View all') 
XXXXXXXX XXXXXXXXXXXXXX
         XXXXXXXXXXXXXXX
         XXXXXXXXXXXX
         XXXXXXXXXX
  BB BBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
  BBBB
    XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No events.') XXXX
  BBBBB
XXXXXXXXXX
