BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   gettext(u'Check your email') 
BBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBB
    XXXX gettext(u'Check your email') XXXXX
    XX XXXXXXXXXXXXXX gettext(u"If there's an account for that address, a link to set a new password is on its way.") XXXX
  BBBB
    XXXX gettext(u'Ask an operator for the link') XXXXX
    XX XXXXXXXXXXXXXX
       gettext(u"If there's an account for that address, the log of the portal has a link to set a new password.") 
    XXXX
  BBBBB
  XX XXXXXXXXXX XXXXXXXX XXXXXXBBB BBBBBBBBBBBBBBBXX pgettext(u'button', u'Sign in') XXXX
BBBBBBBB
