BBBBBBB BBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXX
    XXXX pgettext(u'page title', u'Unsubscribe') XXXXX
    BB BBBBBBB
      XXX
        BB BBBBBB
           gettext(u'%(email)s gets no more notifications by mail.') 
            SSSSSSSSS SSSS SS SSSS SSSSSSSSSSSSS SS SSSSS
          
        BBBB
           gettext(u'%(email)s gets no more mail about: %(kinds)s.') 
            SSSSSSSSS SSSS SS SSSS SSSS SSSSSS SSSSSSSSSS
          
        BBBBB
      XXXX
      XX XXXXXXXXXXXX XXXXXXX gettext(u'You can turn it on again in your notification settings.') XXXX
      BB BBB BBBBBB
        XXXXX XXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXX gettext(u'Unsubscribe from all mail') XXXXXXXXX
        XXXXXXX
      BBBBB
    BBBB
      XXX
         gettext(u'Stop mail to %(email)s about: %(kinds)s?') 
          SSSS SSSS SS SSSSSSSSS SSSSSS SSSSSSSSSS
        
      XXXX
      XXXXX XXXXXXXXXXX XXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Unsubscribe') XXXXXXXXX
        XXXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXX gettext(u'Unsubscribe from all mail') XXXXXXXXX
      XXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
