BBBB BBBB
 #

XXXXXXX XXXXXXXXXXXX
   gettext(u'No cluster is connected yet, so nothing can run.') 
  BB BBBBBBBBBBB
    XX XXXXXXBBB BBBBBBBBBBXX gettext(u'Connect a cluster') XXXX
  BBBB
     gettext(u'Ask an operator to connect one.') 
  BBBBB
XXXXXXXXX
