BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   pgettext(u'page title', u'Sign out') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX gettext(u'Sign out?') XXXXX
  XX XXXXXXXXXXXXXX gettext(u'Your jobs keep running.') XXXX
  XXXXX XXXXXXXXXXXXXX
    BBBBBBBBBB
    XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Sign out') XXXXXXXXX
    XX XXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Cancel') XXXX
  XXXXXXX
BBBBBBBB
