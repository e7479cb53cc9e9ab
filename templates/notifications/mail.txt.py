BBBB BBBB BBBBBBBBBBBB BBBBBB BBBB BB BBBBB
BB BBBBBBBBB
BBBBB
BB BBBBBBBB X BBBBBFFFFFFFFFFFFFFFFFFFF FFFF 

BBBBBBXX
 gettext(u'You get this mail from Muster because of your settings for: %(kinds)s.') SSS SSS SSSS SSSS SSSS SSSSSS SSSSSSS SS SSSS SSSSSSSS SSSS SSSSSSSSSS
 pgettext(u'mail', u'Unsubscribe') X 
 pgettext(u'mail', u'Notification settings') X 
BBBBBBBBBBBBB
