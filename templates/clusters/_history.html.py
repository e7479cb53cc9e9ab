BBBB BBBB
BB BBBBBB
  XXXX XXXXXXXXXXXXXXBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBXXXXXX
BBBB
  XXXXXXXX XXXXXXX pgettext(u'empty list', u'No events yet') XX
     gettext(u'Outages with their duration, and changes by operators, appear here.') 
  XXXXXXXXXX
BBBBB
