BBBB BBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Parallel coordinates') XX
  XXXXXXXX XXXXXXXXXXX XXXXXXXXXXX
    XXXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'heading', u'Axes') XXXXXXXXXX
    XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXX
  XXXXXXXXXX
  XXXX XXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'Drag along an axis to keep the lines in that range; double-click it to clear.') 
  XXXX
XXXXXXXXXX
