BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   gettext(u'Sign-up is closed') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX gettext(u'Sign-up is closed') XXXXX
  XX XXXXXXXXXXXXXX gettext(u'Ask an administrator of your organization to invite you.') XXXX
  XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBXX pgettext(u'button', u'Sign in') XXXX
BBBBBBBB
