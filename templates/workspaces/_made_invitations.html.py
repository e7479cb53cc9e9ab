BBBB BBBB BBBBBB
 #

BB BBBB
   ngettext(u'%(n)s person was invited.', u'%(n)s people were invited.', count) 
    SSSSS SSSSSS SSS SSSSSSSS
  
    PPPPP PPPPPP PPPP PPPPPPPP
  
  XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX
    BBB BBB BB BBBB
      XX XXXXXXXXXXXXXX
        BB BBBBBBBBBBB
           gettext(u"The email to %(e)s is on its way. If it doesn't arrive, send them this link:") 
            SSS SSSSS SS SSSSS SS SS SSS SSSS SS SS SSSSSSS SSSSSSS SSSS SSSS SSSS SSSSS
          
        BBBB BBBBBBBBBBBBBB
           gettext(u"The email to %(e)s couldn't be sent. Send them this link; it is shown only once.") 
            SSS SSSSS SS SSSSS SSSSSSSS SS SSSSS SSSS SSSS SSSS SSSSS SS SS SSSSS SSSS SSSSS
          
        BBBB
           gettext(u'Send %(e)s this link; it is shown only once.') 
            SSSS SSSSS SSSS SSSSS SS SS SSSSS SSSS SSSSS
          
        BBBBB
      XXXX
      XXXXXXX XXXXXXXXXXXXXXX XX
    BBBBBB
  XXXXXXXXX
BBBBB
