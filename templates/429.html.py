BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   gettext(u'Too many attempts') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX gettext(u'Too many attempts') XXXXX
  XXX gettext(u'Wait a minute and try again.') XXXX
  XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBXX pgettext(u'button', u'Sign in') XXXX
BBBBBBBB
