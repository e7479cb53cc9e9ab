BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   pgettext(u'page title', u'Sign-in failed') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX pgettext(u'page title', u'Sign-in failed') XXXXX
  XX XXXXXXXXXXXXXX
     gettext(u"The app sent a sign-in request that Muster doesn't understand. Contact the app's administrator.") 
    BB BBBBBBBBBBBBBBBBB
      XXXXX XXXXXXXXXXXXXXXXXXXX
    BBBBB
  XXXX
BBBBBBBB
