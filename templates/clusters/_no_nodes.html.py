BBBB BBBB
 #

BB BBBBBBBBBBBBBBB
  XXXXXXXX XXXXXXX pgettext(u'empty list', u'No nodes yet') X
           XXXXXXXXXXXXXXX XXXXXXX XXXX XX
     gettext(u"The cluster isn't responding. Test the connection to see what is wrong.") 
  XXXXXXXXXX
BBBB BBBBBBBBBBBBBBBBBB
  XXXXXXXX XXXXXXX gettext(u'The cluster has no nodes') XX
     gettext(u'It responded, but reported no nodes. Nodes that are added later appear by themselves.') 
  XXXXXXXXXX
BBBB
  XXXX XXXXXXXXXXXX XXXXXXXXXXX
       XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
    XXXX pgettext(u'heading', u'Discovering nodes …') XXXXX
    XX XXXXXXXXXXXXX XXXXXXXXXXXX
       gettext(u'Muster is reading the inventory of the cluster. This takes a few seconds.') 
    XXXX
    XXXXXXXXX XXXXXXXXXXXX pgettext(u'spoken label', u'Discovering nodes') XXXXXXXXXXXXX
  XXXXXX
BBBBB
