BBBBBBB BBBBBBBBBBB
BBBB BBBB
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Deleted models keep their versions and files for %(n)s days; then they are deleted permanently.') 
    SSSSSSS SSSSSS SSSS SSSSS SSSSSSSS SSS SSSSS SSS SSSSS SSSSS SSSS SSSS SSS SSSSSSS SSSSSSSSSSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Trash') X XXXXXXXXXX XX
  XXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XX
  XXXXXXXX XXXXXXXXXXXXX
    XXXXXXXX XXXXXXX gettext(u'The trash is empty') XX
       gettext(u'Models that you delete can be restored here.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXX
           XXXXXXBBB BBBBBBBB BBBBBBBBBBBBXX pgettext(u'button, machine learning', u'Models') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXXXXXX
BBBBBBBB
