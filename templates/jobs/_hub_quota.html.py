BBBB BBBB BBBBBB
 #

 pgettext(u'heading', u'Quota') 
 pgettext(u'name of a value', u'Details') 
XXXXXXXX XXXXXXXXXXXXXX
         XXXXXXXXXXXXXXXX
         XXXXXXXXXXXXX
  BBB B BB BBBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
  BBBBB
    XX XXXXXXXXXXXX XXXXXXX gettext(u'No limits: whatever is free can be used.') XXXX
  BBBBBB
  XXXX XXXXXXXXXX XXXXXXX
    BB BBBBBBBBBBBBB
      XX XXXXXXXXXX XXXXXX
         XXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit limits') XXXX
    BBBBB
    BB BBBBBB BBB BBB
      XX XXXXXXXXXX XXXXXX
         XXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Request more') XXXX
    BBBBB
  XXXXXX
XXXXXXXXXX
