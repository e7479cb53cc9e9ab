BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXXFFFFFFFFX
         XXXXXX
         XXXXXXXX
         XXXXXXXXXXXX
  FFFFFFFFFFFFFFFF
  XXXXX XXXXXXXXXXXXXX pgettext(u'text, components', u'/ %(n)s allocated') S SSSSS SSSSSSSSSXXXXXXX X
   pgettext(u'text, components', u'<b>%(n)s</b> free') 
    SSSSSSSSSSSS SSSS
  
  BB BBBBBBBBBB
    X
    XXXXX XXXXXXXXXXXXXX
       pgettext(u'text, components', u'%(n)s reserved') 
        SSSSS SSSSSSSS
      
    XXXXXXX
  BBBBB
  BB BBBBB
    X
    XXXXX XXXXXXXXXXXXXX
       pgettext(u'text, components', u'%(n)s out of service') 
        SSSSS SSS SS SSSSSSS
      
    XXXXXXX
  BBBBB
XXXXXXXXXX
