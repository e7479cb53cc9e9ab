BBBB BBBB BBBBBB
 #

BBB B BB BBBBBBBBBBBB
  XXXXX
    BB BBBBBB
      XX XXXXXXXX X FFFFFFFFXXXX
    BBBB
       X FFFFFFFF
    BBBBB
    BB BBBBBB
       pgettext(u'text, monitoring', u'for %(team)s until %(until)s') 
        SSS SSSSSSSS SSSSS SSSSSSSSS
      
    BBBB
       gettext(u'for another organization until %(until)s') 
        SSS SSSSSSS SSSSSSSSSSSS SSSSS SSSSSSSSS
      
    BBBBB
  XXXXXX
BBBBBB
