BBBBBBB BBBBBBBBBBBBBBBB
BBBB BBBB
BBBBB BBBBB
   pgettext(u'page title', u'Unknown app') 
BBBBBBBB
BBBBB BBBBBBB
  XXXX pgettext(u'page title', u'Unknown app') XXXXX
  XX XXXXXXXXXXXXXX
    BB BBBBBB
       gettext(u"%(name)s uses a redirect URI that isn't registered.") 
        SSSSSSSS SSSS S SSSSSSSS SSS SSSS SSSSS SSSSSSSSSSS
      
    BBBB
       gettext(u'No app with this client ID is registered.') 
    BBBBB
     gettext(u'A platform operator can fix this under Platform, Applications.') 
  XXXX
  XX XXXXXXXXXX XXXXXXXX XXXXXXXXX pgettext(u'button', u'Go to Home') XXXX
BBBBBBBB
