BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   gettext(u'This account is suspended') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX gettext(u'This account is suspended') XXXXX
  XX XXXXXXXXXXXXXX
     gettext(u"An administrator suspended it, or your organization's directory no longer lists you. Contact an administrator.") 
  XXXX
  XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBXX pgettext(u'button', u'Sign in') XXXX
BBBBBBBB
