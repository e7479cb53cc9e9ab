BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Resources') XX
  XXX XXXXXXXXXXXX XXXXXXXXXXX
    BB BBBBBBBBB
      XXXX pgettext(u'name of a value', u'GPUs allocated') XXXXX
      XXXX
         pgettext(u'value', u'%(used)s of %(total)s') 
          SSSSSSSS SS SSSSSSSSS
        
      XXXXX
      BB BBBBBBBBBBBB
        XXXX pgettext(u'name of a value', u'GPUs reserved') XXXXX
        XXXX
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXX
      BBBBB
      XXXX gettext(u'GPU utilization (5 min)') XXXXX
      XXXX
        FFFFFFFFFFFFFF
      XXXXX
      XXXX pgettext(u'name of a value', u'GPU memory used') XXXXX
      XXXX
         pgettext(u'value', u'%(used)s of %(total)s') 
          SSSSSSSS SS SSSSSSSSS
        
      XXXXX
    BBBBB
    XXXX pgettext(u'name of a value', u'CPU allocated') XXXXX
    XXXX
       pgettext(u'value', u'%(n)s of %(all)s cores') 
        SSSSS SS SSSSSSS SSSSS
      
    XXXXX
    XXXX pgettext(u'name of a value', u'CPU usage') XXXXX
    XXXX
      FFFFFFFFFFFFFF
    XXXXX
    XXXX pgettext(u'name of a value', u'Memory allocated') XXXXX
    XXXX
       pgettext(u'value', u'%(used)s of %(total)s') 
        SSSSSSSS SS SSSSSSSSS
      
    XXXXX
    XXXX pgettext(u'name of a value', u'Memory used') XXXXX
    XXXX
      FFFFFFFFFFFFFF
    XXXXX
    BBB BBBB BB BBBBB
      XXXX pgettext(u'name of a value', u'Disk')  XXXXX XXXXXXXXXXXXXXXXXXXXXXXXX
      XXXX
         pgettext(u'value', u'%(used)s of %(total)s') 
          SSSSSSSS SS SSSSSSSSS
        
      XXXXX
    BBBBBB
    BB BBBBBBBBBBB
      XXXX pgettext(u'name of a value', u'Labels') XXXXX
      XXX XXXXXXXXXXX XXXXXXXXXXXXX
        BBB BBBBB BBBBB BB BBBBBBBBBBBBBBBBB
          X
          XXXX
        BBBBBB
      XXXXX
    BBBBB
  XXXXX
XXXXXXXXXX
