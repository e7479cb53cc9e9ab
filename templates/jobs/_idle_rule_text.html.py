BBBB BBBB BBBBBB
 #

XXX
  BB BBBBBBBBBBB BB BBBBBBB
     gettext(u'A job with ports is idle when nobody uses them for %(window)s minutes.') 
      S SSS SSSS SSSSS SS SSSS SSSS SSSSSS SSSS SSSS SSS SSSSSSSSSS SSSSSSSS
    
  BBBB
     gettext(u'A job is idle when each of its GPUs stays below %(below)s%% for %(window)s minutes.') 
      S SSS SS SSSS SSSS SSSS SS SSS SSSS SSSSS SSSSS SSSSSSSSSSS SSS SSSSSSSSSS SSSSSSSS
    
  BBBBB
  BB BBBBBBBBBBB BB BBBBBBB
     gettext(u'GPUs do not count.') 
  BBBB BBBBBBBBBBB BB BBBB
     gettext(u'Measured is SM activity.') 
  BBBB BBBBBBBBBBB BB BBBBBBB
     gettext(u'Measured is power, below %(w)s W per GPU.') SSSSSSSS SS SSSSSS SSSSS SSSSS S SSS SSSS
  BBBB BBBBBBBBBBB BB BBBBBBBBBBBBB
     gettext(u'Measured is GPU utilization, which counts any kernel.') 
  BBBB BBBBBBBBBB
     gettext(u'Measured is SM activity where it is known, else power (below %(w)s W), else GPU utilization.') 
      SSSSSSSS SS SS SSSSSSSS SSSSS SS SS SSSSSS SSSS SSSSS SSSSSS SSSSS SSS SSSS SSS SSSSSSSSSSSS
    
  BBBB
     gettext(u'Measured is SM activity where it is known, else GPU utilization.') 
  BBBBB
  BB BBBBBBBBBBB BB BBBBBB
     gettext(u'Its owner is warned.') 
  BBBB BBBBBBBBBBB BB BBBBBB
     gettext(u'Its owner is warned; %(grace)s minutes later it is stopped, unless they keep it.') 
      SSS SSSSS SS SSSSSSS SSSSSSSSS SSSSSSS SSSSS SS SS SSSSSSSS SSSSSS SSSS SSSS SSS
    
  BBBB
     gettext(u'Its owner is warned; %(grace)s minutes later it gets low priority, unless they keep it.') 
      SSS SSSSS SS SSSSSSS SSSSSSSSS SSSSSSS SSSSS SS SSSS SSS SSSSSSSSS SSSSSS SSSS SSSS SSS
    
  BBBBB
XXXX
BB BBBBBBBBBBBBBBBBB BBB BBBBBBBBBBB BB BBBBBBB
  XX XXXXXXXXXXXX XXXXXXX gettext(u'Exempt: jobs whose ports were used in that time.') XXXX
BBBBB
BB BBBBBBBBBBB
  XX XXXXXXXXXXXX XXXXXXX
     gettext(u'Exempt: jobs with the label %(labels)s.') SSSSSSS SSSS SSSS SSS SSSSS SSSSSSSSSSS
  XXXX
BBBBB
