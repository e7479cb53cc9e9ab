BBBB BBBB
 #

BB BBBB
   gettext(u'Client secret of %(n)s') 
    SSSSSS SSSSSS SS SSSSS
  
  XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX
     gettext(u'Copy it now. It is shown only once.') 
    XXXXXXX XXXXXXXXXXXXXXXXXXX XX
  XXXXXXXXX
BBBBB
