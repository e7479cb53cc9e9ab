BBBB BBBB
 #
 #

BB BBBBBBBBBBBB
   pgettext(u'heading', u'Changes from #%(n)s') 
    SSSSSSS SSSS SSSSSS
  
  XXXXXXXX XXXXXXXXXXXXXXX
    XX XXXXXXXXXXXX XXXXXX XXXXXXXXXXXXXX BB BBBBBBBXXXXXXBBBBBX
       gettext(u'Nothing changed yet. Submitting runs the same spec again.') 
    XXXX
    XXX XXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
    XXXXX
  XXXXXXXXXX
BBBBB
