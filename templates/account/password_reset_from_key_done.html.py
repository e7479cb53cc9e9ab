BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   pgettext(u'page title', u'Password updated') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX pgettext(u'page title', u'Password updated') XXXXX
  XX XXXXXXXXXXXXXX gettext(u'You can now sign in with your new password.') XXXX
  XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBXX pgettext(u'button', u'Sign in') XXXX
BBBBBBBB
